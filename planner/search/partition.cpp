#include "planner/search/partition.h"

#include <algorithm>

namespace stagewright {
namespace {

/// Sums over layers [0, i), so that a run of layers costs two subtractions.
struct Prefix {
  std::vector<Duration> time{Duration{}};
  std::vector<std::int64_t> state{0};
  std::vector<std::int64_t> saved{0};

  explicit Prefix(const std::vector<LayerCost>& layers) {
    for (const LayerCost& layer : layers) {
      time.push_back(time.back() + layer.forward + layer.backward);
      state.push_back(state.back() + layer.state.count());
      saved.push_back(saved.back() + layer.saved.count());
    }
  }
};

}  // namespace

std::optional<Partition> partition(const PartitionProblem& problem) {
  const std::size_t layers = problem.layers.size();
  const std::size_t stages = problem.in_flight.size();
  if (stages == 0 || layers < stages) {
    return std::nullopt;
  }
  const Prefix prefix(problem.layers);
  const auto fits = [&](std::size_t stage, std::size_t begin, std::size_t end) {
    return !problem.capacity ||
           prefix.state[end] - prefix.state[begin] +
                   problem.in_flight[stage] * (prefix.saved[end] - prefix.saved[begin]) <=
               problem.capacity->count();
  };
  // best[s][e]: least slowest stage when stages 0..s hold exactly the layers [0, e).
  std::vector<std::vector<Duration>> best(stages,
                                          std::vector<Duration>(layers + 1, Duration::max()));
  std::vector<std::vector<std::size_t>> begin_of(stages, std::vector<std::size_t>(layers + 1, 0));
  for (std::size_t end = 1; end <= layers - (stages - 1); ++end) {
    if (fits(0, 0, end)) {
      best[0][end] = prefix.time[end];
    }
  }
  for (std::size_t s = 1; s < stages; ++s) {
    for (std::size_t end = s + 1; end <= layers - (stages - 1 - s); ++end) {
      // From short to long: a longer stage only costs more, so stop when it alone is too slow or
      // too large.
      for (std::size_t begin = end - 1; begin >= s; --begin) {
        const Duration own = prefix.time[end] - prefix.time[begin];
        if (own > best[s][end] || !fits(s, begin, end)) {
          break;
        }
        const Duration slowest = std::max(best[s - 1][begin], own);
        if (best[s - 1][begin] != Duration::max() && slowest <= best[s][end]) {
          best[s][end] = slowest;
          begin_of[s][end] = begin;
        }
      }
    }
  }
  if (best[stages - 1][layers] == Duration::max()) {
    return std::nullopt;
  }
  Partition result{.layers = std::vector<std::int32_t>(stages),
                   .slowest = best[stages - 1][layers]};
  std::size_t end = layers;
  for (std::size_t s = stages; s-- > 0;) {
    const std::size_t begin = s == 0 ? 0 : begin_of[s][end];
    result.layers[s] = static_cast<std::int32_t>(end - begin);
    end = begin;
  }
  return result;
}

}  // namespace stagewright
