#include "core/schedule/rank_program.h"

#include <algorithm>

#include "core/base/check.h"

namespace stagewright {

const StageProgram& RankProgram::stage(StageId id, std::int32_t version) const {
  const auto first = std::ranges::lower_bound(stages, id, {}, &StageProgram::stage);
  SW_CHECK(version < stages.end() - first, "a stage that this rank holds");
  const StageProgram& found = first[version];
  SW_CHECK(found.stage == id && found.version == version, "a stage that this rank holds");
  return found;
}

std::int32_t RankProgram::versions_of(StageId id) const {
  return static_cast<std::int32_t>(std::ranges::count(stages, id, &StageProgram::stage));
}

ActionOperations operations_of(const RankProgram& program, const Action& action) {
  using Half = ActionOperations::Half;
  switch (action.kind) {
    case ActionKind::kForward:
      return {program.stage(action.stage, action.version).forward, Half::kBoth};
    case ActionKind::kBackward:
      return {program.stage(action.stage, action.version).backward, Half::kBoth};
    case ActionKind::kBackwardInput:
      return {program.stage(action.stage, action.version).backward, Half::kInput};
    case ActionKind::kBackwardWeight:
      return {program.stage(action.stage, action.version).backward, Half::kWeight};
    case ActionKind::kRecompute:
      return {program.stage(action.stage, action.version).recompute, Half::kBoth};
    case ActionKind::kReduceGradients:
      return {program.buckets[action.bucket.index()].reduce, Half::kBoth};
    case ActionKind::kGatherParameters:
      return {program.buckets[action.bucket.index()].gather, Half::kBoth};
    case ActionKind::kOptimizerStep:
      return {program.optimizer_step, Half::kBoth};
    case ActionKind::kUpdateParameters:
      return {program.stage(action.stage, action.version).update, Half::kBoth};
    case ActionKind::kLoadMicroBatch:
    case ActionKind::kSendActivation:
    case ActionKind::kRecvActivation:
    case ActionKind::kSendGradient:
    case ActionKind::kRecvGradient:
      return {};
  }
  SW_CHECK(false, "a known action kind");
}

std::vector<TensorId> moved_tensors(const RankProgram& program, const Action& action) {
  std::vector<TensorId> moved;
  const auto add = [&moved](const std::optional<TensorId>& tensor) {
    if (tensor) {
      moved.push_back(*tensor);
    }
  };
  switch (action.kind) {
    case ActionKind::kLoadMicroBatch:
      add(program.stage(action.stage).tokens);
      add(program.stage(action.stage).targets);
      break;
    case ActionKind::kSendActivation:
      add(program.stage(action.stage).output);
      break;
    case ActionKind::kRecvActivation:
      add(program.stage(action.stage).input);
      break;
    case ActionKind::kSendGradient:
      add(program.stage(action.stage).input_gradient);
      break;
    case ActionKind::kRecvGradient:
      add(program.stage(action.stage).output_gradient);
      break;
    case ActionKind::kForward:
    case ActionKind::kBackward:
    case ActionKind::kBackwardInput:
    case ActionKind::kBackwardWeight:
    case ActionKind::kRecompute:
    case ActionKind::kReduceGradients:
    case ActionKind::kGatherParameters:
    case ActionKind::kOptimizerStep:
    case ActionKind::kUpdateParameters:
      break;
  }
  return moved;
}

Bytes message_bytes(const RankProgram& program, const Action& action) {
  Bytes sum{};
  if (is_send(action.kind) || is_receive(action.kind)) {
    for (const TensorId tensor : moved_tensors(program, action)) {
      sum += program.tensors[tensor.index()].bytes();
    }
  }
  return sum;
}

}  // namespace stagewright
