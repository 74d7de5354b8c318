#pragma once

#include <cstdint>
#include <vector>

#include "planner/schedules/generator.h"
#include "sim/engine/pipeline_timing.h"

namespace stagewright {

enum class SynthesisObjective : std::uint8_t {
  kMakespan,  ///< from zero to the last end: a flush ends the step for all ranks together
  kSpan,      ///< the longest time from a rank's first start to its last end: no flush
};

/// What an order is searched for: one flush of one pipeline with one copy of the weights.
struct SynthesisRequest {
  PipelineShape shape;  ///< its parameters are not read
  /// By stage.  A whole backward is used where it is cheaper than its halves; without any
  /// (`backward` empty) all backwards are split.  A stage whose recompute time is positive runs its
  /// forward again before each backward; an empty vector: none does.
  PipelineCosts costs;
  /// What a rank may hold at most, in the unit of `held`; empty: anything.
  std::vector<std::int64_t> memory_cap;
  /// By stage: what a micro-batch holds from its forward to the end of its backward.  Empty: 1
  /// each.
  std::vector<std::int64_t> held;
  /// By stage: what of it is held from the forward until the recomputation.  Empty: all of it.
  std::vector<std::int64_t> checkpoint;
  /// By stage: what of `held` the input half frees; the rest stays until the weight half.  Empty:
  /// nothing.
  std::vector<std::int64_t> released;
  /// By stage: what the input half adds for the weight half: gradients.  Empty: nothing.
  std::vector<std::int64_t> pending;
  SynthesisObjective objective = SynthesisObjective::kMakespan;
  /// How many million steps of candidate orders the local search may time; it takes about ten
  /// milliseconds each.  The result depends on the request alone, not on the machine.
  std::int64_t effort = 40;
  std::uint32_t seed = 1;
};

}  // namespace stagewright
