#include "core/schedule/wait_steps.h"

#include <algorithm>

#include "core/schedule/touches.h"

namespace stagewright {
namespace {

/// By tensor: whether an item touches its memory.
std::vector<bool> shared_tensors(const RankProgram& program) {
  std::vector<bool> shared(program.tensors.size());
  const auto mark = [&](TensorId tensor) { shared[memory_owner(program, tensor).index()] = true; };
  const auto mark_operations = [&](const std::vector<Operation>& ops) {
    for (const Operation& op : ops) {
      if (is_wait_item(op)) {
        std::ranges::for_each(op.inputs, mark);
        std::ranges::for_each(op.outputs, mark);
      }
    }
  };
  for (const StageProgram& stage : program.stages) {
    for (const auto& border :
         {stage.input, stage.output, stage.output_gradient, stage.input_gradient}) {
      if (border) {
        mark(*border);
      }
    }
    mark_operations(stage.forward);
    mark_operations(stage.backward);
    mark_operations(stage.recompute);
    mark_operations(stage.update);
  }
  for (const GradientBucket& bucket : program.buckets) {
    mark_operations(bucket.reduce);
    mark_operations(bucket.gather);
  }
  mark_operations(program.optimizer_step);
  return shared;
}

}  // namespace

bool is_wait_item(const Operation& op) {
  return op.stream != kComputeStream || class_of(op.kind) == OpClass::kCollective;
}

WaitStepTable::WaitStepTable(const RankProgram& program, WaitTensors tensors)
    : program_(program), tensors_(tensors), shared_(shared_tensors(program)) {}

const std::vector<WaitStep>& WaitStepTable::of(const Action& action) {
  const auto [found, is_new] = steps_.try_emplace(
      {action.kind, action.version, action.stage.value() + action.bucket.value()});
  if (is_new) {
    found->second = work_out(action);
  }
  return found->second;
}

std::vector<TensorId> WaitStepTable::known_among(const std::vector<TensorId>& tensors) const {
  std::vector<TensorId> found;
  for (const TensorId tensor : tensors) {
    const TensorId owner = memory_owner(program_, tensor);
    if ((tensors_ == WaitTensors::kAll || shared_[owner.index()]) &&
        std::ranges::find(found, owner) == found.end()) {
      found.push_back(owner);
    }
  }
  return found;
}

std::vector<WaitStep> WaitStepTable::work_out(const Action& action) const {
  std::vector<WaitStep> steps;
  const auto add = [&](WaitStep step) {
    if (step.is_item || !step.reads.empty() || !step.writes.empty()) {
      steps.push_back(std::move(step));
    }
  };
  if (const auto moved = moved_tensors(program_, action); !moved.empty()) {
    WaitStep step;
    step.is_item = action.kind != ActionKind::kLoadMicroBatch;
    (is_send(action.kind) ? step.reads : step.writes) = known_among(moved);
    add(std::move(step));
  }
  const ActionOperations run = operations_of(program_, action);
  for (std::size_t i = 0; i < run.ops.size(); ++i) {
    const Operation& op = run.ops[i];
    if (run.includes(op)) {
      add({static_cast<std::int32_t>(i),
           &op,
           is_wait_item(op),
           known_among(op.inputs),
           known_among(op.outputs)});
    }
  }
  return steps;
}

}  // namespace stagewright
