#include "planner/schedules/split_backward.h"

#include <algorithm>

#include "planner/schedules/chunk_groups.h"
#include "planner/schedules/stage_layout.h"

namespace stagewright {

PipelineOrder split_backward_order(const PipelineShape& shape, const SplitBackwardRule& rule) {
  const std::vector<ChunkStep> forwards = forward_steps(shape, rule.group);
  const std::vector<ChunkStep> backwards = backward_steps(shape, rule.group);
  const std::size_t total = forwards.size();
  PipelineOrder order = looped_layout(shape);
  for (std::int32_t rank = 0; rank < shape.ranks; ++rank) {
    auto& actions = order.ranks[static_cast<std::size_t>(rank)];
    const auto run = [&](ActionKind kind, const ChunkStep& step) {
      actions.push_back(compute_action(kind, step.chunk * shape.ranks + rank, step.micro_batch));
    };
    const auto warm_up = std::min(total,
                                  static_cast<std::size_t>((shape.virtual_stages - 1) * rule.group +
                                                           rule.depth * (shape.ranks - 1 - rank)));
    const auto waiting = static_cast<std::size_t>(rule.depth * rank);
    const auto whole = [&](std::size_t k) {
      return rule.whole_when_steady && (rank == 0 || (k >= waiting && k + warm_up + 1 < total));
    };
    std::vector<ChunkStep> pending;
    std::size_t weights = 0;
    for (std::size_t k = 0; k < warm_up; ++k) {
      run(ActionKind::kForward, forwards[k]);
    }
    for (std::size_t k = 0; k < total; ++k) {
      if (k + warm_up < total) {
        run(ActionKind::kForward, forwards[k + warm_up]);
      }
      if (whole(k)) {
        run(ActionKind::kBackward, backwards[k]);
        continue;
      }
      run(ActionKind::kBackwardInput, backwards[k]);
      pending.push_back(backwards[k]);
      if (k >= waiting) {
        run(ActionKind::kBackwardWeight, pending[weights++]);
      }
    }
    while (weights < pending.size()) {
      run(ActionKind::kBackwardWeight, pending[weights++]);
    }
  }
  return order;
}

}  // namespace stagewright
