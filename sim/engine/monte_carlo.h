#pragma once

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "sim/engine/event_engine.h"
#include "sim/engine/event_graph.h"
#include "sim/engine/perturbation.h"

namespace stagewright {

struct MonteCarloOptions {
  Perturbation perturbation;
  std::int32_t samples = 1000;  ///< at least 1
  std::uint64_t seed = 1;
  std::int32_t threads = 0;  ///< 0: as many as the machine has
  EventOptions event;
};

/// Step times under jitter.
struct StepSamples {
  std::vector<Duration> times;  ///< by sample
  Duration mean{};
  /// Nearest rank: the smallest time that at least that share of the samples does not exceed.
  Duration p50{};
  Duration p95{};
  Duration p99{};
  friend bool operator==(const StepSamples&, const StepSamples&) = default;
};

/// REQUIRES: at least one.
[[nodiscard]] StepSamples statistics_of(std::vector<Duration> times);

/// Simulates the step once per sample, each with its own jitter.  A sample depends on the seed and
/// its number alone, so that the result is the same for any number of threads.  Where nothing
/// contends a sample is one pass over the graph, else a run of the event engine.
[[nodiscard]] StepSamples sample_steps(const EventGraph& graph, const MonteCarloOptions& options);

}  // namespace stagewright
