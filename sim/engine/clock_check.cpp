#include "sim/engine/clock_check.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/longest_time.h"

namespace stagewright {
namespace {

constexpr double kDay = 86400;  // seconds

}  // namespace

Result<void> check_clock(const StepGraph& step) {
  double all = 0;
  double longest = 0;
  RankId rank;
  for (const ClassWork& work : step.classes) {
    double seconds = 0;
    for (std::size_t action = 0; action < work.actions.size(); ++action) {
      seconds += work.phases.of_action(action).seconds;
    }
    all += seconds;
    if (seconds > longest) {
      longest = seconds;
      rank = work.rank;
    }
  }
  for (std::size_t i = 0; i < step.nodes.size(); ++i) {
    if (step.nodes[i].kind == StepNode::Kind::kTransfer) {
      all += to_seconds(step.durations[i]);
    }
  }
  if (all > kLongestSeconds) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("a step is too long for the clock of picoseconds: the work of its "
                    "distinct ranks and the transfers take {:.3g} days one after the other "
                    "(rank {} alone {:.3g}), and the clock counts {:.0f}; check the rates of "
                    "devices and links, or take a smaller batch",
                    all / kDay,
                    rank.value(),
                    longest / kDay,
                    kLongestSeconds / kDay));
  }
  return {};
}

namespace {

/// All work and all transfers, one after the other.
double total_seconds(const EventGraph& graph,
                     const Perturbation& perturbation,
                     double compute_slowdown) {
  std::vector<double> factors(static_cast<std::size_t>(graph.ranks), compute_slowdown);
  for (const Straggler& straggler : perturbation.stragglers) {
    factors[straggler.rank.index()] *= straggler.factor;
  }
  double all = 0;
  for (std::size_t node = 0; node < graph.nodes(); ++node) {
    const double alone = to_seconds(graph.alone[node]);
    if (graph.kind[node] == EventGraph::Kind::kCompute) {
      all += alone * factors[static_cast<std::size_t>(graph.rank[node])] +
             (graph.first[node] != 0 ? to_seconds(perturbation.action_overhead) : 0);
    } else {
      all += alone;
    }
  }
  return all * (1 + kMostNoise * perturbation.jitter);
}

/// The option without which the step would be short enough, or all that make it longer.
std::string to_blame(const EventGraph& graph,
                     const Perturbation& perturbation,
                     double compute_slowdown) {
  Perturbation even = perturbation;
  even.stragglers.clear();
  Perturbation free = perturbation;
  free.action_overhead = {};
  const std::pair<const char*, double> without[] = {
      {"--straggler", total_seconds(graph, even, compute_slowdown)},
      {"--action-overhead", total_seconds(graph, free, compute_slowdown)},
      {"--compute-slowdown", total_seconds(graph, perturbation, 1)}};
  for (const auto& [option, seconds] : without) {
    if (seconds <= kLongestSeconds) {
      return option;
    }
  }
  return "--straggler, --action-overhead, --compute-slowdown";
}

}  // namespace

Result<void> check_clock(const EventGraph& graph,
                         const Perturbation& perturbation,
                         double compute_slowdown) {
  const double all = total_seconds(graph, perturbation, compute_slowdown);
  if (!(all <= kLongestSeconds)) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("a step is too long for the clock of picoseconds: all its work takes "
                            "{:.3g} days one after the other, and the clock counts {:.0f}; take "
                            "less of it",
                            all / kDay,
                            kLongestSeconds / kDay),
                to_blame(graph, perturbation, compute_slowdown));
  }
  return {};
}

}  // namespace stagewright
