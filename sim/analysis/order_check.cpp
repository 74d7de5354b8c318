#include "sim/analysis/order_check.h"

#include <algorithm>

#include "sim/analysis/list_coverage.h"

namespace stagewright {

ActivationPeaks activation_peaks(const TokenList& list) {
  ActivationPeaks peaks;
  for (const std::vector<ListItem>& items : list.ranks) {
    std::int32_t to_backward = 0;
    std::int32_t to_weight = 0;
    std::int32_t most_to_backward = 0;
    std::int32_t most_to_weight = 0;
    for (const ListItem& item : items) {
      for (const Action& action : item.actions) {
        to_backward += action.kind == ActionKind::kForward ? 1 : 0;
        to_weight += action.kind == ActionKind::kForward ? 1 : 0;
        to_backward -=
            action.kind == ActionKind::kBackward || action.kind == ActionKind::kBackwardInput ? 1
                                                                                              : 0;
        to_weight -=
            action.kind == ActionKind::kBackward || action.kind == ActionKind::kBackwardWeight ? 1
                                                                                               : 0;
        most_to_backward = std::max(most_to_backward, to_backward);
        most_to_weight = std::max(most_to_weight, to_weight);
      }
    }
    peaks.to_backward.push_back(most_to_backward);
    peaks.to_weight.push_back(most_to_weight);
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

}  // namespace stagewright
