#include "planner/lower/place_recomputation.h"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace stagewright {
namespace {

bool begins_backward(ActionKind kind) {
  return kind == ActionKind::kBackward || kind == ActionKind::kBackwardInput;
}

}  // namespace

Result<std::set<StageId>> stages_that_recompute_ahead(const Plan& plan,
                                                      const PipelineOrder& order) {
  std::set<StageId> ahead;
  for (const std::vector<Action>& list : order.ranks) {
    for (const Action& action : list) {
      if (action.kind != ActionKind::kRecompute) {
        continue;
      }
      if (plan.stages[action.stage.index()].recompute == Recompute::kNone) {
        return fail(ErrorCode::kInfeasible,
                    fmt::format("schedule '{}' recomputes stage {} ({}), of which the plan keeps "
                                "all activations; set recompute to 'selective' or 'full'",
                                plan.schedule,
                                action.stage.value(),
                                to_string(action)),
                    fmt::format("plan:/stages/{}/recompute", action.stage.value()));
      }
      ahead.insert(action.stage);
    }
  }
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
    if (plan.recompute_placement == RecomputePlacement::kAhead &&
        plan.stages[stage].recompute != Recompute::kNone) {
      ahead.insert(StageId(stage));
    }
  }
  return ahead;
}

void place_recomputation(PipelineOrder& order, const std::vector<RankDraft>& drafts) {
  for (std::size_t rank = 0; rank < drafts.size(); ++rank) {
    const RankProgram& program = drafts[rank].program;
    std::set<std::pair<StageId, MicroBatchId>> recomputed;
    std::vector<Action> list;
    for (const Action& action : order.ranks[rank]) {
      const bool repeats = !program.stage(action.stage).recompute.empty();
      if (action.kind == ActionKind::kRecompute) {
        if (!repeats) {
          continue;  // nothing of the stage is worth it
        }
        recomputed.emplace(action.stage, action.micro_batch);
      } else if (begins_backward(action.kind) && repeats &&
                 !recomputed.contains({action.stage, action.micro_batch})) {
        Action recompute = action;
        recompute.kind = ActionKind::kRecompute;
        list.push_back(recompute);
      }
      list.push_back(action);
    }
    order.ranks[rank] = std::move(list);
  }
  order.pairs.clear();  // places have changed
}

}  // namespace stagewright
