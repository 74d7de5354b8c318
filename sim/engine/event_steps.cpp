#include "sim/engine/event_steps.h"

#include <algorithm>
#include <utility>

#include "core/schedule/touches.h"
#include "sim/engine/pass_messages.h"

namespace stagewright {

EventSteps::EventSteps(const RankProgram& program, RankPlace place, const CostModel& cost)
    : program_(program),
      place_(std::move(place)),
      cost_(cost),
      communicated_(program.tensors.size(), false) {
  for (const Action& action : program.actions) {
    for (const TensorId tensor : moved_tensors(program, action)) {
      communicated_[memory_owner(program, tensor).index()] = true;
    }
  }
  for (const StageProgram& stage : program.stages) {
    for (const auto* list : {&stage.forward, &stage.backward, &stage.recompute}) {
      std::ranges::for_each(*list, [this](const Operation& op) { mark(op); });
    }
  }
  for (const GradientBucket& bucket : program.buckets) {
    for (const auto* list : {&bucket.reduce, &bucket.gather}) {
      std::ranges::for_each(*list, [this](const Operation& op) { mark(op); });
    }
  }
  std::ranges::for_each(program.optimizer_step, [this](const Operation& op) { mark(op); });
}

/// The tensors of an operation beside the compute stream.
void EventSteps::mark(const Operation& op) {
  if (!is_collective(op) && op.stream == kComputeStream) {
    return;
  }
  for (const auto* list : {&op.inputs, &op.outputs}) {
    for (const TensorId tensor : *list) {
      communicated_[memory_owner(program_, tensor).index()] = true;
    }
  }
}

void EventSteps::add_use(EventStep& step, TensorId tensor, bool writes) const {
  const TensorId owner = memory_owner(program_, tensor);
  if (!communicated_[owner.index()]) {
    return;
  }
  const auto found = std::ranges::find(step.uses, owner, &EventStep::Use::tensor);
  if (found == step.uses.end()) {
    step.uses.push_back({owner, writes});
  } else {
    found->writes = found->writes || writes;
  }
}

void EventSteps::keep_whole(const Action& action, std::vector<EventStep>& steps) const {
  const PassMessages messages = pass_messages(program_, action);
  if (messages.awaited) {
    add_use(steps.front(), *messages.awaited, false);
  }
  if (messages.sent) {
    add_use(steps.back(), *messages.sent, true);
  }
}

std::vector<EventStep> EventSteps::work_out(const Action& action) const {
  const ActionOperations selection = operations_of(program_, action);
  std::vector<EventStep> steps;
  for (const PricedOperation& priced : price_operations(program_, selection, place_, cost_).ops) {
    const Operation& op = selection.ops[static_cast<std::size_t>(priced.op)];
    EventStep step{.stream = op.stream, .alone = priced.duration};
    for (const TensorId tensor : op.inputs) {
      add_use(step, tensor, false);
    }
    for (const TensorId tensor : op.outputs) {
      add_use(step, tensor, true);
    }
    if (is_collective(op)) {
      step.group = op.group;
      step.kind = op.kind;
      step.size = bytes_moved(op);
      step.blocks = priced.blocks && op.stream != kComputeStream;
    }
    const bool joins = !step.group && step.uses.empty() && !steps.empty() && !steps.back().group &&
                       steps.back().uses.empty() && steps.back().stream == step.stream;
    if (joins) {
      steps.back().alone += step.alone;
    } else {
      steps.push_back(std::move(step));
    }
  }
  if (place_.rules.passes_wait && !steps.empty()) {
    keep_whole(action, steps);
  }
  return steps;
}

const std::vector<EventStep>& EventSteps::of(const Action& action) {
  const auto [found, is_new] =
      known_.try_emplace({action.kind, action.stage, action.version, action.bucket});
  if (is_new) {
    found->second = work_out(action);
  }
  return found->second;
}

}  // namespace stagewright
