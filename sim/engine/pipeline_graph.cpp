#include "sim/engine/pipeline_graph.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace stagewright {
namespace {

Duration at(const std::vector<Duration>& costs, StageId stage) {
  SW_CHECK(stage.index() < costs.size(), "a cost for every stage and kind in the order");
  return costs[stage.index()];
}

Duration price_of(const PipelineCosts& costs, const PipelineWork& work) {
  if (!work.part) {
    return {};
  }
  const Duration alone = cost_of(costs, work.part->kind, work.part->stage);
  if (!work.beside) {
    return alone;
  }
  const Duration sum = alone + cost_of(costs, work.beside->kind, work.beside->stage);
  return Duration(std::llround(static_cast<double>(sum.count()) * costs.overlap));
}

Duration lag_of(const PipelineCosts& costs, const PipelineWork& work) {
  if (work.border) {
    return costs.transfer.empty() ? Duration{} : at(costs.transfer, *work.border);
  }
  if (work.late && !costs.late.empty()) {
    const auto rank = static_cast<std::size_t>(*work.late);
    SW_CHECK(rank < costs.late.size(), "a begin for every rank");
    return costs.late[rank];
  }
  return {};
}

}  // namespace

Duration cost_of(const PipelineCosts& costs, ActionKind kind, StageId stage) {
  switch (kind) {
    case ActionKind::kForward:
      return at(costs.forward, stage);
    case ActionKind::kBackward:
      return at(costs.backward, stage);
    case ActionKind::kBackwardInput:
      return at(costs.backward_input, stage);
    case ActionKind::kBackwardWeight:
      return at(costs.backward_weight, stage);
    case ActionKind::kRecompute:
      return at(costs.recompute, stage);
    case ActionKind::kLoadMicroBatch:
    case ActionKind::kSendActivation:
    case ActionKind::kRecvActivation:
    case ActionKind::kSendGradient:
    case ActionKind::kRecvGradient:
    case ActionKind::kReduceGradients:
    case ActionKind::kGatherParameters:
    case ActionKind::kOptimizerStep:
    case ActionKind::kUpdateParameters:
      break;
  }
  SW_CHECK(false, "an action that computes");
}

Duration PipelineGraph::makespan(std::span<const Duration> ends) const {
  Duration last{};
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    if (const auto actions = of_rank(rank); !actions.empty()) {
      last = std::max(last, ends[static_cast<std::size_t>(actions.back())]);
    }
  }
  return last;
}

void price(const PipelineGraph& graph, const PipelineCosts& costs, std::vector<Duration>& prices) {
  prices.clear();
  for (const PipelineWork& work : graph.works) {
    prices.push_back(price_of(costs, work));
  }
}

void price_lags(const PipelineGraph& graph,
                const PipelineCosts& costs,
                std::vector<Duration>& lags) {
  lags.clear();
  for (const PipelineWork& work : graph.works) {
    lags.push_back(lag_of(costs, work));
  }
}

std::vector<Duration> spread(const PipelineGraph& graph, std::span<const Duration> prices) {
  std::vector<Duration> durations;
  durations.reserve(graph.graph.size());
  for (const WorkClass work : graph.graph.work) {
    durations.push_back(prices[work]);
  }
  return durations;
}

}  // namespace stagewright
