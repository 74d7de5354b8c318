#include "planner/search/partition.h"

#include <algorithm>
#include <utility>

namespace stagewright {
namespace {

/// Sums over layers [0, i), so that a run of layers costs two subtractions.
struct Prefix {
  std::vector<Duration> time{Duration{}};
  std::vector<Duration> again{Duration{}};
  std::vector<std::int64_t> state{0};
  std::vector<std::int64_t> saved{0};
  std::vector<std::int64_t> dropped{0};  ///< by recomputation

  explicit Prefix(const std::vector<PartitionLayer>& layers) {
    for (const PartitionLayer& layer : layers) {
      time.push_back(time.back() + layer.time);
      again.push_back(again.back() + layer.time_again);
      state.push_back(state.back() + layer.state.count());
      saved.push_back(saved.back() + layer.saved.count());
      dropped.push_back(dropped.back() + (layer.saved - layer.saved_again).count());
    }
  }
};

class Cutter {
 public:
  explicit Cutter(const PartitionProblem& problem) : problem_(problem), prefix_(problem.layers) {}

  [[nodiscard]] std::optional<Partition> run() {
    if (!may_fit()) {
      return std::nullopt;
    }
    const std::size_t layers = problem_.layers.size();
    const std::size_t stages = problem_.in_flight.size();
    best_.assign(stages, std::vector<Duration>(layers + 1, Duration::max()));
    begin_.assign(stages, std::vector<std::size_t>(layers + 1, 0));
    for (std::size_t end = 1; end <= layers - (stages - 1); ++end) {
      if (const auto again = recomputed(0, 0, end)) {
        best_[0][end] = time_of(0, end, *again);
      }
    }
    for (std::size_t s = 1; s < stages; ++s) {
      for (std::size_t end = s + 1; end <= layers - (stages - 1 - s); ++end) {
        fill(s, end);
      }
    }
    return best_[stages - 1][layers] == Duration::max() ? std::nullopt : std::optional(trace());
  }

 private:
  /// Whether stages that may be empty, and take as many layers as they hold, take them all: no
  /// other cut gets further.
  [[nodiscard]] bool may_fit() const {
    const std::size_t layers = problem_.layers.size();
    std::size_t end = 0;
    for (std::size_t s = 0; s < problem_.in_flight.size() && end < layers; ++s) {
      const std::size_t begin = end;
      while (end < layers &&
             fits(s, begin, end + 1, problem_.recompute ? end + 1 - begin : std::size_t{0})) {
        ++end;
      }
    }
    return end == layers;
  }

  /// From short to long: a longer stage only costs more, so it ends where one alone is too slow or
  /// too large.
  void fill(std::size_t s, std::size_t end) {
    for (std::size_t begin = end - 1; begin >= s; --begin) {
      if (prefix_.time[end] - prefix_.time[begin] > best_[s][end]) {
        return;
      }
      const auto again = recomputed(s, begin, end);
      if (!again) {
        return;
      }
      if (best_[s - 1][begin] == Duration::max()) {
        continue;
      }
      const Duration slowest = std::max(best_[s - 1][begin], time_of(begin, end, *again));
      if (slowest <= best_[s][end]) {
        best_[s][end] = slowest;
        begin_[s][end] = begin;
      }
    }
  }

  /// Whether stage [begin, end) holds no more than it may, that many of its layers recomputed.
  [[nodiscard]] bool fits(std::size_t stage,
                          std::size_t begin,
                          std::size_t end,
                          std::size_t again) const {
    if (!problem_.capacity) {
      return true;
    }
    const std::int64_t kept = prefix_.saved[end] - prefix_.saved[begin] -
                              (prefix_.dropped[begin + again] - prefix_.dropped[begin]);
    return static_cast<double>(prefix_.state[end] - prefix_.state[begin]) +
               problem_.in_flight[stage] * static_cast<double>(kept) <=
           static_cast<double>(problem_.capacity->count());
  }

  /// Layers that stage [begin, end) must recompute at least, or nothing if all are too few.
  [[nodiscard]] std::optional<std::size_t> recomputed(std::size_t stage,
                                                      std::size_t begin,
                                                      std::size_t end) const {
    if (fits(stage, begin, end, 0)) {
      return 0;
    }
    if (!problem_.recompute || !fits(stage, begin, end, end - begin)) {
      return std::nullopt;
    }
    std::size_t too_few = 0;
    std::size_t enough = end - begin;
    while (enough - too_few > 1) {
      const std::size_t middle = (too_few + enough) / 2;
      (fits(stage, begin, end, middle) ? enough : too_few) = middle;
    }
    return enough;
  }

  [[nodiscard]] Duration time_of(std::size_t begin, std::size_t end, std::size_t again) const {
    Duration time = prefix_.time[end] - prefix_.time[begin] + prefix_.again[begin + again] -
                    prefix_.again[begin];
    if (begin > 0) {
      time += problem_.layers[begin].transfer;
    }
    if (end < problem_.layers.size()) {
      time += problem_.layers[end].transfer;
    }
    return time;
  }

  [[nodiscard]] Partition trace() const {
    const std::size_t stages = problem_.in_flight.size();
    std::size_t end = problem_.layers.size();
    Partition result;
    result.slowest = best_[stages - 1][end];
    for (std::size_t s = stages; s-- > 0;) {
      const std::size_t begin = s == 0 ? 0 : begin_[s][end];
      result.layers.push_back(static_cast<std::int32_t>(end - begin));
      result.recomputed.push_back(static_cast<std::int32_t>(*recomputed(s, begin, end)));
      end = begin;
    }
    std::ranges::reverse(result.layers);
    std::ranges::reverse(result.recomputed);
    return result;
  }

  const PartitionProblem& problem_;
  const Prefix prefix_;
  /// [s][e]: least slowest stage when stages 0..s hold exactly the layers [0, e).
  std::vector<std::vector<Duration>> best_;
  std::vector<std::vector<std::size_t>> begin_;
};

}  // namespace

std::optional<Partition> partition(const PartitionProblem& problem) {
  if (problem.in_flight.empty() || problem.layers.size() < problem.in_flight.size()) {
    return std::nullopt;
  }
  return Cutter(problem).run();
}

Result<std::vector<std::size_t>> chain_units(const ModelGraph& model) {
  auto cuts = single_value_cuts(model);
  if (!cuts) {
    return pass_on(std::move(cuts));
  }
  std::vector<std::size_t> units{0};
  units.insert(units.end(), cuts->begin(), cuts->end());
  return units;
}

}  // namespace stagewright
