#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "planner/schedules/synthesis/synthesize.h"

namespace stagewright {

/// A peer's list under one cost set beside what synthesis makes at the peer's own memory: on each
/// rank the peer's peak, held until W, and as many stages a rank.
struct SynthesisCell {
  std::string vector;
  std::string costs;
  std::int32_t copies = 1;  ///< of the peer's weights; the synthesised order has one
  Duration peer{};
  Synthesis synthesis;
  bool valid = false;  ///< the order is complete, runs to its end in the time that is stated
  bool within_cap = false;

  /// Synthesised over peer, less 1.
  [[nodiscard]] double change() const;
  /// Synthesised over the lower bound, less 1.
  [[nodiscard]] double above_bound() const;
};

/// The compute-only vectors with at least 4 ranks and that many copies of the weights.
[[nodiscard]] std::vector<std::string> synthesis_vectors(std::int32_t copies);

/// Synthesises against vectors under c0, c01 and uneq, in parallel; cells in the order of the
/// vectors.
[[nodiscard]] std::vector<SynthesisCell> synthesis_cells(const std::vector<std::string>& vectors);

}  // namespace stagewright
