#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "planner/schedules/synthesis/replay.h"

namespace stagewright::synthesis {

/// A point of the family that all hand-made schedules belong to: micro-batches enter one period
/// after the other, or in groups that go through one chunk of stages after the other; forwards and
/// backwards pass the stages of a chunk at a speed of its own.
struct VirtualTimePattern {
  std::int32_t group = 1;  ///< micro-batches that share a round through the chunks
  double period = 1;       ///< between micro-batches, in a rank's work for one of them
  /// By chunk: time from stage to stage, in what a forward or input half and its transfer take; at
  /// least 1.  A rank's warm-up and the memory it needs grow with them.
  std::vector<double> forward_slope;
  std::vector<double> backward_slope;
  double gap = 0;  ///< between the last forward and the first backward, in periods
  ReplayRule rule;
};

/// REQUIRES: slopes for every chunk of `ranks` stages.
[[nodiscard]] VirtualTimes virtual_times(const StepTable& table, const VirtualTimePattern& pattern);

/// Patterns to begin with, for the chunks of the table; among them those of the named schedules.
[[nodiscard]] std::vector<VirtualTimePattern> first_patterns(const StepTable& table);
/// A form of backwards that may be of use: whole where halves cost or hold more, too.
[[nodiscard]] Backwards any_backwards(const StepTable& table, std::mt19937& engine);
/// A neighbour of a pattern: one or a few of its numbers changed.
[[nodiscard]] VirtualTimePattern varied(VirtualTimePattern pattern,
                                        const StepTable& table,
                                        std::mt19937& engine);

}  // namespace stagewright::synthesis
