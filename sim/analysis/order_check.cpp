#include "sim/analysis/order_check.h"

#include <algorithm>
#include <cstddef>

#include "sim/analysis/held_activations.h"
#include "sim/analysis/list_coverage.h"

namespace stagewright {

namespace {

void add_rank(const HeldActivations& held, ActivationPeaks& peaks) {
  peaks.to_backward.push_back(held.most_to_backward());
  peaks.to_weight.push_back(held.most_to_weight());
}

/// Busy times and spans from the ends of all pieces.
void add_ranks(const PipelineGraph& graph,
               const std::vector<Duration>& prices,
               const std::vector<Duration>& ends,
               ListTiming& timing) {
  const auto price_at = [&](SweepIndex index) {
    return prices[graph.graph.work[static_cast<std::size_t>(index)]];
  };
  for (std::size_t rank = 0; rank < graph.ranks(); ++rank) {
    Duration busy{};
    SweepIndex before = 0;
    for (const SweepIndex index : graph.of_rank(rank)) {
      busy += index == before ? Duration{} : price_at(index);  // the second of a pair has its index
      before = index;
    }
    Duration span{};
    if (const auto indices = graph.of_rank(rank); !indices.empty()) {
      const SweepIndex first = indices.front();
      span = ends[static_cast<std::size_t>(indices.back())] -
             (ends[static_cast<std::size_t>(first)] - price_at(first));
    }
    timing.busy.push_back(busy);
    timing.spans.push_back(span);
  }
}

}  // namespace

ActivationPeaks activation_peaks(const TokenList& list) {
  ActivationPeaks peaks;
  for (const std::vector<ListItem>& items : list.ranks) {
    HeldActivations held;
    for (const ListItem& item : items) {
      for (const Action& action : item.actions) {
        held.add(action.kind);
      }
    }
    add_rank(held, peaks);
  }
  return peaks;
}

ActivationPeaks activation_peaks(const PipelineOrder& order) {
  ActivationPeaks peaks;
  for (const std::vector<Action>& actions : order.ranks) {
    HeldActivations held;
    for (const Action& action : actions) {
      held.add(action.kind);
    }
    add_rank(held, peaks);
  }
  return peaks;
}

PipelineCosts costs_per_stage(const UniformCosts& costs, std::int32_t stages) {
  const auto every = [stages](Duration cost) {
    return std::vector<Duration>(static_cast<std::size_t>(stages), cost);
  };
  return {.forward = every(costs.forward),
          .backward = every(costs.backward),
          .backward_input = every(costs.backward_input),
          .backward_weight = every(costs.backward_weight),
          .recompute = every(costs.recompute),
          .transfer = every(costs.transfer),
          .overlap = costs.overlap};
}

bool OrderCheck::runs() const {
  return !fault && (queues.empty() || std::ranges::any_of(queues, [](const auto& checked) {
                      return !checked.second.fault;
                    }));
}

OrderCheck check_order(const TokenList& list, const PipelineCosts& costs) {
  OrderCheck check;
  check.fault = find_coverage_fault(list);
  if (check.fault) {
    return check;
  }
  check.timing = time_list(list, costs);
  if (check.timing.fault) {
    check.fault = check.timing.fault;
    return check;
  }
  check.peaks = activation_peaks(list);
  if (list.has_transfers()) {
    for (const QueueModel model : kQueueModels) {
      check.queues.emplace_back(model, time_list(list, costs, model));
    }
  }
  return check;
}

OrderCheck check_order(const PipelineOrder& order,
                       const PipelineGraph& graph,
                       const PipelineCosts& costs) {
  std::vector<Duration> prices;
  std::vector<Duration> lags;
  std::vector<Duration> ends(graph.graph.size());
  price(graph, costs, prices);
  price_lags(graph, costs, lags);
  sweep_by_class(graph.graph, lags, prices, ends);
  OrderCheck check;
  check.timing.makespan = graph.makespan(ends);
  add_ranks(graph, prices, ends, check.timing);
  check.peaks = activation_peaks(order);
  return check;
}

}  // namespace stagewright
