#include "sim/engine/perturbation.h"

#include <cmath>
#include <cstddef>

#include "core/base/check.h"

namespace stagewright {
namespace {

constexpr std::uint64_t kGoldenGamma = 0x9E3779B97F4A7C15;

/// Output function of SplitMix64.
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

std::uint64_t stream_of(const SampleId& sample) {
  return mix(mix(sample.seed + kGoldenGamma) + (sample.sample + 1) * kGoldenGamma);
}

/// Of four numbers that take 0 to 65535 with equal probability: the sum's mean is 4 * 65535 / 2,
/// its variance 4 * (65536^2 - 1) / 12.
double noise(std::uint64_t stream, std::int32_t action) {
  constexpr double kDeviation = 37837.22746736712;
  const std::uint64_t bits = mix(stream + (static_cast<std::uint64_t>(action) + 1) * kGoldenGamma);
  constexpr std::uint64_t kLow = 0xFFFF;
  const std::uint64_t sum =
      (bits & kLow) + ((bits >> 16) & kLow) + ((bits >> 32) & kLow) + (bits >> 48);
  return (static_cast<double>(sum) - 131070.0) / kDeviation;
}

/// REQUIRES: neither is negative.
Duration scaled(Duration time, double factor) {
  constexpr double kExact = 0x1p51;  // below it a half can be added without rounding
  const double product = static_cast<double>(time.count()) * factor;
  return Duration(product < kExact ? static_cast<std::int64_t>(product + 0.5)
                                   : std::llround(product));
}

/// Straggler factor by rank; empty if there is none.
std::vector<double> factors_of(const EventGraph& graph, const Perturbation& perturbation) {
  if (perturbation.stragglers.empty()) {
    return {};
  }
  std::vector<double> factors(static_cast<std::size_t>(graph.ranks), 1.0);
  for (const Straggler& straggler : perturbation.stragglers) {
    SW_CHECK(straggler.rank.index() < factors.size() && straggler.factor >= 0,
             "a straggler among the ranks");
    factors[straggler.rank.index()] *= straggler.factor;
  }
  return factors;
}

}  // namespace

double standard_noise(const SampleId& sample, std::int32_t action) {
  return noise(stream_of(sample), action);
}

void perturb(const EventGraph& graph,
             const Perturbation& perturbation,
             const SampleId& sample,
             std::span<Duration> alone) {
  SW_CHECK(alone.size() == graph.nodes(), "an entry per node");
  SW_CHECK(perturbation.jitter >= 0 && perturbation.jitter <= kMostJitter, "jitter in its bounds");
  const std::vector<double> factors = factors_of(graph, perturbation);
  const std::uint64_t stream = stream_of(sample);
  const double jitter = perturbation.jitter;
  for (std::size_t node = 0; node < alone.size(); ++node) {
    Duration time = graph.alone[node];
    if (graph.kind[node] == EventGraph::Kind::kDelay) {
      alone[node] = time;
      continue;
    }
    if (graph.kind[node] == EventGraph::Kind::kCompute) {
      if (!factors.empty()) {
        time = scaled(time, factors[static_cast<std::size_t>(graph.rank[node])]);
      }
      if (graph.first[node] != 0) {
        time += perturbation.action_overhead;
      }
    }
    alone[node] = jitter > 0 ? scaled(time, 1 + jitter * noise(stream, graph.action[node])) : time;
  }
}

}  // namespace stagewright
