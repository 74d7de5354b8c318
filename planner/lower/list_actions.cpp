#include "planner/lower/list_actions.h"

#include "planner/lower/place_transfers.h"

namespace stagewright {
namespace {

bool loads_before(const RankProgram& program, const Action& action) {
  if (action.kind != ActionKind::kForward) {
    return false;
  }
  const StageProgram& stage = program.stage(action.stage);
  return stage.tokens.has_value() || stage.targets.has_value();
}

Action reduction_of(BucketId bucket) {
  Action reduce;
  reduce.kind = ActionKind::kReduceGradients;
  reduce.bucket = bucket;
  return reduce;
}

}  // namespace

std::vector<Action> list_actions(const RankProgram& program,
                                 const PipelineAxis& axis,
                                 const std::vector<Action>& compute,
                                 const std::vector<Transfer>& transfers,
                                 const std::vector<BucketReduction>& reductions) {
  const std::vector<PlacedTransfer> placed = place_transfers(axis.rank, transfers);
  std::vector<Action> actions;
  actions.reserve(2 * compute.size() + placed.size() + reductions.size() + 1);
  auto next = placed.begin();
  auto next_reduction = reductions.begin();
  for (std::size_t slot = 0; slot <= compute.size(); ++slot) {
    for (; next != placed.end() && static_cast<std::size_t>(next->slot) <= slot; ++next) {
      Action& action = actions.emplace_back(action_of(*next));
      action.peer = axis.slot_of(next->sends ? next->transfer.receiver : next->transfer.sender);
    }
    for (; next_reduction != reductions.end() &&
           static_cast<std::size_t>(next_reduction->slot) <= slot;
         ++next_reduction) {
      actions.push_back(reduction_of(next_reduction->bucket));
    }
    if (slot == compute.size()) {
      break;
    }
    if (loads_before(program, compute[slot])) {
      Action load;
      load.kind = ActionKind::kLoadMicroBatch;
      load.stage = compute[slot].stage;
      load.micro_batch = compute[slot].micro_batch;
      actions.push_back(load);
    }
    actions.push_back(compute[slot]);
  }
  Action step;
  step.kind = ActionKind::kOptimizerStep;
  actions.push_back(step);
  return actions;
}

}  // namespace stagewright
