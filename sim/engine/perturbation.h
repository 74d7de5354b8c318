#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "sim/engine/event_graph.h"

namespace stagewright {

/// A rank whose computation takes `factor` times as long as it should.
struct Straggler {
  RankId rank;
  double factor = 1;
  friend bool operator==(const Straggler&, const Straggler&) = default;
};

/// How a step differs from its prices.
struct Perturbation {
  std::vector<Straggler> stragglers{};
  Duration action_overhead{};  ///< before the computation of every action
  /// Standard deviation of every action's and message's time, as a share of it.  At most
  /// kMostJitter, which keeps all times positive.
  double jitter = 0;
  friend bool operator==(const Perturbation&, const Perturbation&) = default;
};
inline constexpr double kMostJitter = 0.25;
/// No drawn noise is further from 0 (standard_noise()).
inline constexpr double kMostNoise = 3.47;

/// Which of the random steps.
struct SampleId {
  std::uint64_t seed = 1;
  std::uint64_t sample = 0;
  friend bool operator==(const SampleId&, const SampleId&) = default;
};

/// A number of mean 0 and deviation 1 that depends on sample and action alone, whatever was drawn
/// before: the sum of four uniform 16-bit numbers (Irwin-Hall), bell-shaped, within +-3.47; its
/// bits are those of the action's place in a SplitMix64 sequence (Steele, Lea and Flood 2014).
[[nodiscard]] double standard_noise(const SampleId& sample, std::int32_t action);

/// Times alone of the graph's nodes under a perturbation: (time * straggler + overhead) * (1 +
/// jitter * noise of the action), in whole picoseconds.  Nodes of one action have one noise, and a
/// message its own.
/// REQUIRES: an entry per node; known ranks; jitter within its bounds.
void perturb(const EventGraph& graph,
             const Perturbation& perturbation,
             const SampleId& sample,
             std::span<Duration> alone);

}  // namespace stagewright
