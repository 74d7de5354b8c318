#include "runtime/executor/executed_operation.h"

namespace stagewright {

std::vector<ExecutedOperation> executed_operations(
    const Schedule& schedule,
    const RankPlan& plan,
    std::span<const std::vector<std::int32_t>> lane_logs) {
  std::vector<ExecutedOperation> executed;
  for (std::size_t lane = 0; lane < lane_logs.size(); ++lane) {
    for (const std::int32_t index : lane_logs[lane]) {
      const Instruction& instruction = plan.instructions[static_cast<std::size_t>(index)];
      ExecutedOperation entry;
      entry.stream = plan.lanes[lane].stream;
      entry.action = plan.program->actions[static_cast<std::size_t>(instruction.action)].kind;
      entry.action_index = instruction.action;
      entry.bytes = instruction.bytes;
      if (instruction.operation != nullptr) {
        entry.op_index = instruction.op;
        entry.kind = instruction.operation->kind;
        entry.shape = instruction.operation->shape;
      }
      if (instruction.group) {
        entry.group = schedule.groups[instruction.group->index()].members;
      }
      if (instruction.peer) {
        entry.group = {*instruction.peer};
      }
      executed.push_back(std::move(entry));
    }
  }
  return executed;
}

}  // namespace stagewright
