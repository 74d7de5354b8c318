#include "planner/schedules/synthesis/step_table.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/check.h"
#include "planner/schedules/stage_layout.h"

namespace stagewright::synthesis {
namespace {

std::int64_t cost_at(const std::vector<Duration>& costs, std::size_t stage) {
  return costs.empty() ? 0 : costs[stage].count();
}

std::int64_t held_at(const std::vector<std::int64_t>& by_stage,
                     std::size_t stage,
                     std::int64_t otherwise) {
  return by_stage.empty() ? otherwise : by_stage[stage];
}

/// Fills the four types of one stage.
class StageTypes {
 public:
  StageTypes(const SynthesisRequest& request, StepTable& table)
      : request_(request), table_(table) {}

  void fill(std::int32_t stage) {
    const auto s = static_cast<std::size_t>(stage);
    const PipelineCosts& costs = request_.costs;
    const std::int64_t all = held_at(request_.held, s, 1);
    const std::int64_t recompute = cost_at(costs.recompute, s);
    const std::int64_t kept = recompute > 0 ? held_at(request_.checkpoint, s, all) : all;
    const std::int64_t released = held_at(request_.released, s, 0);
    const std::int64_t pending = held_at(request_.pending, s, 0);
    SW_CHECK(kept <= all && released <= all, "parts no larger than the whole");

    StepType& forward = type(stage, StepPart::kForward);
    forward.duration = cost_at(costs.forward, s);
    forward.take = kept;
    link(forward, stage, stage - 1, StepPart::kForward, stage + 1);

    StepType& input = type(stage, StepPart::kInputHalf);
    input.duration = cost_at(costs.backward_input, s);
    input.before = recompute;
    input.take = all - kept + pending;
    input.give = released;
    input.own = slot_of(stage, StepPart::kForward);
    link(input, stage, stage + 1, StepPart::kInputHalf, stage - 1);

    StepType& weight = type(stage, StepPart::kWeightHalf);
    weight.duration = cost_at(costs.backward_weight, s);
    weight.give = all - released + pending;
    weight.own = input.slot;

    StepType& whole = type(stage, StepPart::kWholeBackward);
    whole = input;
    const std::int64_t halves = input.duration + weight.duration;
    whole.duration = costs.backward.empty() ? halves : cost_at(costs.backward, s);
    whole.take = all - kept;
    whole.give = all;
    table_.whole[s] = whole.duration < halves;
    table_.halves_hold_more = table_.halves_hold_more || pending > 0;
  }

 private:
  [[nodiscard]] StepType& type(std::int32_t stage, StepPart part) {
    StepType& found = table_.types[static_cast<std::size_t>(StepTable::type_of(stage, part))];
    found.rank = table_.rank_of(stage);
    found.slot = slot_of(stage, part);
    return found;
  }
  [[nodiscard]] std::int32_t slot_of(std::int32_t stage, StepPart part) const {
    constexpr std::int32_t kSlotParts = 3;
    return (stage * kSlotParts + static_cast<std::int32_t>(part)) * table_.frame.micro_batches;
  }
  [[nodiscard]] bool exists(std::int32_t stage) const {
    return stage >= 0 && stage < table_.frame.stages;
  }

  void link(
      StepType& type, std::int32_t stage, std::int32_t from, StepPart part, std::int32_t to) const {
    if (exists(from)) {
      type.dependency = slot_of(from, part);
      if (table_.rank_of(from) != type.rank) {
        type.delay =
            cost_at(request_.costs.transfer, static_cast<std::size_t>(std::min(from, stage)));
      }
    }
    if (exists(to) && table_.rank_of(to) != type.rank) {
      type.consumer = table_.rank_of(to);
    }
  }

  const SynthesisRequest& request_;
  StepTable& table_;
};

StepPart part_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward:
      return StepPart::kForward;
    case ActionKind::kBackwardInput:
      return StepPart::kInputHalf;
    case ActionKind::kBackwardWeight:
      return StepPart::kWeightHalf;
    case ActionKind::kBackward:
      return StepPart::kWholeBackward;
    case ActionKind::kRecompute:
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
  SW_CHECK(false, "a forward or backward");
}

ActionKind kind_of(StepPart part) {
  switch (part) {
    case StepPart::kForward:
      return ActionKind::kForward;
    case StepPart::kInputHalf:
      return ActionKind::kBackwardInput;
    case StepPart::kWeightHalf:
      return ActionKind::kBackwardWeight;
    case StepPart::kWholeBackward:
      return ActionKind::kBackward;
  }
  SW_CHECK(false, "a part that is listed");
}

}  // namespace

std::int64_t StepTable::work_of(std::int32_t rank) const {
  std::int64_t work = 0;
  for (std::int32_t stage = 0; stage < frame.stages; ++stage) {
    if (rank_of(stage) == rank) {
      const StepType& backward = at(stage, StepPart::kWholeBackward);
      const std::int64_t halves =
          at(stage, StepPart::kInputHalf).duration + at(stage, StepPart::kWeightHalf).duration;
      work += at(stage, StepPart::kForward).duration + backward.before +
              std::min(backward.duration, halves);
    }
  }
  return work;
}

StepTable make_step_table(const SynthesisRequest& request, PipelineOrder frame) {
  SW_CHECK(frame.placement.size() == 1, "one copy of the weights");
  StepTable table;
  table.frame = std::move(frame);
  const auto stages = static_cast<std::size_t>(table.frame.stages);
  table.types.resize(stages * static_cast<std::size_t>(kStepParts));
  table.whole.resize(stages);
  table.objective = request.objective;
  table.slots = table.frame.stages * 3 * table.frame.micro_batches;
  table.caps = request.memory_cap;
  if (table.caps.empty()) {
    table.caps.assign(table.frame.ranks.size(), std::numeric_limits<std::int64_t>::max());
  }
  StageTypes types(request, table);
  for (std::int32_t stage = 0; stage < table.frame.stages; ++stage) {
    types.fill(stage);
  }
  return table;
}

StepLists to_steps(const StepTable& table, const PipelineOrder& order, bool split) {
  StepLists lists(order.ranks.size());
  for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
    for (const Action& action : order.ranks[rank]) {
      if (action.kind == ActionKind::kRecompute) {
        continue;
      }
      const StepPart part = part_of(action.kind);
      const std::int32_t stage = action.stage.value();
      const std::int32_t m = action.micro_batch.value();
      if (part == StepPart::kWholeBackward && split && !table.whole[action.stage.index()]) {
        lists[rank].push_back({StepTable::type_of(stage, StepPart::kInputHalf), m});
        lists[rank].push_back({StepTable::type_of(stage, StepPart::kWeightHalf), m});
      } else {
        lists[rank].push_back({StepTable::type_of(stage, part), m});
      }
    }
  }
  return lists;
}

PipelineOrder to_order(const StepTable& table, const StepLists& lists) {
  PipelineOrder order = table.frame;
  for (std::size_t rank = 0; rank < lists.size(); ++rank) {
    for (const OrderStep& step : lists[rank]) {
      const std::int32_t stage = StepTable::stage_of(step.type);
      if (table.types[static_cast<std::size_t>(step.type)].before > 0) {
        order.ranks[rank].push_back(
            compute_action(ActionKind::kRecompute, stage, step.micro_batch));
      }
      order.ranks[rank].push_back(
          compute_action(kind_of(StepTable::part_of(step.type)), stage, step.micro_batch));
    }
  }
  return order;
}

}  // namespace stagewright::synthesis
