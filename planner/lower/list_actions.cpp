#include "planner/lower/list_actions.h"

#include <algorithm>

namespace stagewright {
namespace {

/// A send or receive and the compute action before which it stands (its slot).
struct PlacedTransfer {
  Action action;
  std::int32_t slot = 0;
};

Action to_action(const Transfer& transfer, const PipelineAxis& axis) {
  const bool sends = transfer.sender == axis.rank;
  Action action;
  action.stage = sends ? transfer.from : transfer.to;
  action.micro_batch = transfer.micro_batch;
  action.peer = axis.slot_of(sends ? transfer.receiver : transfer.sender);
  if (transfer.gradient) {
    action.kind = sends ? ActionKind::kSendGradient : ActionKind::kRecvGradient;
  } else {
    action.kind = sends ? ActionKind::kSendActivation : ActionKind::kRecvActivation;
  }
  return action;
}

/// Sends have one slot.  A receive may stand anywhere from the slots of the transfers before it to
/// those of the transfers behind it.
std::vector<PlacedTransfer> place_transfers(const PipelineAxis& axis,
                                            const std::vector<Transfer>& transfers) {
  std::vector<PlacedTransfer> placed;
  for (const Transfer& transfer : transfers) {
    if (transfer.sender == axis.rank) {
      placed.push_back({to_action(transfer, axis), transfer.producer + 1});
    } else if (transfer.receiver == axis.rank) {
      placed.push_back({to_action(transfer, axis), std::max(transfer.consumer - 1, 0)});
    }
  }
  std::int32_t latest = placed.empty() ? 0 : placed.back().slot;
  for (std::size_t i = placed.size(); i-- > 0;) {
    PlacedTransfer& transfer = placed[i];
    if (!is_send(transfer.action.kind)) {
      transfer.slot = std::min(latest, transfer.slot);
    }
    latest = transfer.slot;
  }
  std::int32_t earliest = 0;
  for (PlacedTransfer& transfer : placed) {
    transfer.slot = earliest = std::max(earliest, transfer.slot);
  }
  return placed;
}

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
  const std::vector<PlacedTransfer> placed = place_transfers(axis, transfers);
  std::vector<Action> actions;
  actions.reserve(2 * compute.size() + placed.size() + reductions.size() + 1);
  auto next = placed.begin();
  auto next_reduction = reductions.begin();
  for (std::size_t slot = 0; slot <= compute.size(); ++slot) {
    for (; next != placed.end() && static_cast<std::size_t>(next->slot) <= slot; ++next) {
      actions.push_back(next->action);
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
