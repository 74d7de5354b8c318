#include "core/schedule/action.h"

#include <fmt/format.h>

#include "core/base/check.h"

namespace stagewright {

std::string_view name_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::kLoadMicroBatch:
      return "load-micro-batch";
    case ActionKind::kForward:
      return "forward";
    case ActionKind::kBackward:
      return "backward";
    case ActionKind::kBackwardInput:
      return "backward-input";
    case ActionKind::kBackwardWeight:
      return "backward-weight";
    case ActionKind::kRecompute:
      return "recompute";
    case ActionKind::kSendActivation:
      return "send-activation";
    case ActionKind::kRecvActivation:
      return "recv-activation";
    case ActionKind::kSendGradient:
      return "send-gradient";
    case ActionKind::kRecvGradient:
      return "recv-gradient";
    case ActionKind::kReduceGradients:
      return "reduce-gradients";
    case ActionKind::kGatherParameters:
      return "gather-parameters";
    case ActionKind::kOptimizerStep:
      return "optimizer-step";
  }
  SW_CHECK(false, "a known action kind");
}

std::optional<ActionKind> action_kind_named(std::string_view name) {
  for (int i = 0; i < kActionKindCount; ++i) {
    const auto kind = static_cast<ActionKind>(i);
    if (name_of(kind) == name) {
      return kind;
    }
  }
  return std::nullopt;
}

bool is_compute(ActionKind kind) {
  return kind == ActionKind::kForward || kind == ActionKind::kBackward ||
         kind == ActionKind::kBackwardInput || kind == ActionKind::kBackwardWeight ||
         kind == ActionKind::kRecompute;
}

bool is_send(ActionKind kind) {
  return kind == ActionKind::kSendActivation || kind == ActionKind::kSendGradient;
}

bool is_receive(ActionKind kind) {
  return kind == ActionKind::kRecvActivation || kind == ActionKind::kRecvGradient;
}

namespace {
/// Letters between stage and micro-batch; absent where neither is meant.
std::optional<std::string_view> token_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::kLoadMicroBatch:
      return "LOAD";
    case ActionKind::kForward:
      return "F";
    case ActionKind::kBackward:
      return "B";
    case ActionKind::kBackwardInput:
      return "I";
    case ActionKind::kBackwardWeight:
      return "W";
    case ActionKind::kRecompute:
      return "R";
    case ActionKind::kSendActivation:
      return "SEND_F";
    case ActionKind::kRecvActivation:
      return "RECV_F";
    case ActionKind::kSendGradient:
      return "SEND_B";
    case ActionKind::kRecvGradient:
      return "RECV_B";
    case ActionKind::kReduceGradients:
    case ActionKind::kGatherParameters:
    case ActionKind::kOptimizerStep:
      return std::nullopt;
  }
  SW_CHECK(false, "a known action kind");
}
}  // namespace

std::string to_string(const Action& action) {
  if (const auto token = token_of(action.kind)) {
    return fmt::format("{}{}{}", action.stage.value(), *token, action.micro_batch.value());
  }
  if (action.kind == ActionKind::kOptimizerStep) {
    return "STEP";
  }
  return fmt::format("{}{}",
                     action.kind == ActionKind::kReduceGradients ? "REDUCE" : "GATHER",
                     action.bucket.value());
}

}  // namespace stagewright
