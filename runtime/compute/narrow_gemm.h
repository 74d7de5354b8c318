#pragma once

#include <memory>

#include "runtime/compute/compute_device.h"

namespace stagewright {

/// Matrix products of bf16 or fp16 matrices without a detour over fp32: sums in fp32, rounded once
/// where the result is of the matrices' type.  Used by one thread; keeps what oneDNN has prepared
/// for each shape.
class NarrowGemm {
 public:
  NarrowGemm();
  ~NarrowGemm();
  NarrowGemm(const NarrowGemm&) = delete;
  NarrowGemm& operator=(const NarrowGemm&) = delete;

  /// Runs a kGemm.  False, having done nothing, for operands of other or mixed types, and where the
  /// machine has no such products (few have them in fp16): then they have to be widened.
  [[nodiscard]] bool run(const BoundOperation& bound);

 private:
  struct Form;
  struct Prepared;
  std::unique_ptr<Prepared> prepared_;
};

}  // namespace stagewright
