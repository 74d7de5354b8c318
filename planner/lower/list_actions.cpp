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

/// Whole weights that live on get what the step has made of their parts.
void append_gathers_of_updated(const RankProgram& program, std::vector<Action>& actions) {
  for (std::size_t bucket = 0; bucket < program.buckets.size(); ++bucket) {
    const std::vector<Operation>& gather = program.buckets[bucket].gather;
    if (gather.empty()) {
      continue;
    }
    const TensorSpec& whole = program.tensors[gather.front().outputs.front().index()];
    if (whole.scope == TensorScope::kPersistent) {
      Action action;
      action.kind = ActionKind::kGatherParameters;
      action.bucket = BucketId(bucket);
      actions.push_back(action);
    }
  }
}

/// Appends what stands at or before a slot.
void append_until(std::size_t slot,
                  std::vector<BucketAction>::const_iterator& next,
                  std::vector<BucketAction>::const_iterator end,
                  std::vector<Action>& actions) {
  for (; next != end && static_cast<std::size_t>(next->slot) <= slot; ++next) {
    actions.push_back(next->action);
  }
}

}  // namespace

std::vector<Action> list_actions(const RankProgram& program,
                                 const PipelineAxis& axis,
                                 const std::vector<Action>& compute,
                                 const std::vector<Transfer>& transfers,
                                 const std::vector<BucketAction>& reductions,
                                 const std::vector<BucketAction>& gathers) {
  const std::vector<PlacedTransfer> placed = place_transfers(axis.rank, transfers);
  std::vector<Action> actions;
  actions.reserve(2 * compute.size() + placed.size() + reductions.size() + gathers.size() + 1);
  auto next = placed.begin();
  auto next_reduction = reductions.begin();
  auto next_gather = gathers.begin();
  for (std::size_t slot = 0; slot <= compute.size(); ++slot) {
    for (; next != placed.end() && static_cast<std::size_t>(next->slot) <= slot; ++next) {
      Action& action = actions.emplace_back(action_of(*next));
      action.peer = axis.slot_of(next->sends ? next->transfer.receiver : next->transfer.sender);
    }
    append_until(slot, next_reduction, reductions.end(), actions);
    append_until(slot, next_gather, gathers.end(), actions);
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
  append_gathers_of_updated(program, actions);
  return actions;
}

}  // namespace stagewright
