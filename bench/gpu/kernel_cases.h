#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/schedule/operation.h"
#include "float64_operations.h"

namespace stagewright::gpu_check {

/// What an operand holds before the operation.
enum class Values : std::uint8_t {
  kNormal,
  kPositive,  ///< sizes of normal ones
  kTokens,    ///< whole numbers below Operand::below
  kZero,
};

struct CaseOperand {
  std::int64_t elements = 0;
  DType type = DType::kFloat32;
  Values values = Values::kNormal;
  std::int64_t below = 1;
};

/// An operation with operands to try it on, and how far its results may be from those in double
/// precision, as a part of the largest of each.
struct KernelCase {
  std::string name;
  Operation op;
  std::vector<CaseOperand> inputs;
  std::vector<CaseOperand> outputs;
  double tolerance = 0;
  /// Puts right the inputs that follow from others (what a forward kept); may be absent.
  std::function<void(std::vector<Doubles>& inputs)> complete;
  std::size_t compared_outputs = 1;  ///< of the first ones; those behind are workspaces
};

/// Every operation of plans without experts, in fp32, products also in 16 bits and tf32; of sizes
/// that fill a GPU, or small.
[[nodiscard]] std::vector<KernelCase> kernel_cases(bool small);

}  // namespace stagewright::gpu_check
