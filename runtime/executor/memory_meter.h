#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "core/schedule/lifetimes.h"
#include "runtime/executor/rank_plan.h"

namespace stagewright {

/// Counts the memory of a rank as it is taken and given back while its list runs: an instance of a
/// tensor counts from the first instruction that touches it until it is released.
class MemoryMeter {
 public:
  using Live = std::array<Bytes, kTensorClassCount>;

  explicit MemoryMeter(const RankPlan& plan);

  /// Takes what the instruction touches and nobody has taken; returns whether there was any.
  bool take(const Instruction& instruction);
  /// Gives back what ends with the instruction; returns whether there was any.
  bool release(const Instruction& instruction);

  [[nodiscard]] const Live& live() const { return live_; }
  [[nodiscard]] const MemoryPeaks& peaks() const { return peaks_; }

 private:
  bool take(std::span<const OperandPlace> operands);
  [[nodiscard]] std::size_t class_of(std::size_t lifetime) const;

  const RankPlan& plan_;
  std::vector<char> taken_;  ///< per lifetime
  Live live_{};
  Bytes total_{};
  MemoryPeaks peaks_;
};

}  // namespace stagewright
