#pragma once

#include <cstddef>
#include <vector>

#include "runtime/compute/compute_device.h"
#include "runtime/compute/operation_kernels.h"

namespace stagewright {

/// Stored in 16 bits: bf16 or fp16.
[[nodiscard]] bool is_narrow(DType type);

/// Operands that are stored in bf16 or fp16 as fp32, so that kernels compute in fp32 and round
/// once, to the nearest value, when they have ended.  No arena knows of the copies.
class WidenedOperands {
 public:
  /// `kernels`, which outlives it, converts and has the memory.
  explicit WidenedOperands(OperationKernels& kernels) : kernels_(kernels) {}

  /// Whether some operand is narrow.
  [[nodiscard]] static bool needed(const BoundOperation& bound);

  /// `bound` on fp32 copies of its narrow operands; one that is named twice has one copy.  Valid
  /// until the next call.
  [[nodiscard]] BoundOperation widen(const BoundOperation& bound);
  /// Rounds the outputs of the last call of widen() into their places.
  void narrow();

 private:
  struct Copy {
    void* place = nullptr;
    OperandType type;
    float* wide = nullptr;
    bool written = false;
  };

  [[nodiscard]] void* copy_of(void* place, const OperandType& type, bool read, bool written);

  OperationKernels& kernels_;
  std::vector<Copy> copies_;
  std::vector<void*> inputs_;
  std::vector<void*> outputs_;
};

}  // namespace stagewright
