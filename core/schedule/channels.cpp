#include "core/schedule/channels.h"

#include "core/base/check.h"
#include "core/schedule/semantics.h"

namespace stagewright {

MessageKind message_kind(ActionKind kind) {
  SW_CHECK(is_send(kind) || is_receive(kind), "a send or a receive");
  return kind == ActionKind::kSendActivation || kind == ActionKind::kRecvActivation
             ? MessageKind::kActivation
             : MessageKind::kGradient;
}

StageId message_border(const Action& action) {
  const bool from_above =
      action.kind == ActionKind::kRecvActivation || action.kind == ActionKind::kSendGradient;
  return from_above ? StageId(action.stage.value() - 1) : action.stage;
}

ActionKind other_side(ActionKind kind) {
  switch (kind) {
    case ActionKind::kSendActivation:
      return ActionKind::kRecvActivation;
    case ActionKind::kRecvActivation:
      return ActionKind::kSendActivation;
    case ActionKind::kSendGradient:
      return ActionKind::kRecvGradient;
    case ActionKind::kRecvGradient:
      return ActionKind::kSendGradient;
    case ActionKind::kLoadMicroBatch:
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
  SW_CHECK(false, "a send or a receive");
}

Action other_side(const Action& action) {
  const StageId border = message_border(action);
  Action other = action;
  other.kind = other_side(action.kind);
  other.stage = action.stage == border ? StageId(border.value() + 1) : border;
  return other;
}

std::vector<PeerTraffic> peer_traffic(const std::vector<Action>& actions) {
  std::vector<PeerTraffic> traffic;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const Action& action = actions[i];
    if (!is_send(action.kind) && !is_receive(action.kind)) {
      continue;
    }
    if (traffic.size() <= action.peer.index()) {
      traffic.resize(action.peer.index() + 1);
    }
    PeerTraffic& peer = traffic[action.peer.index()];
    auto& lists = is_send(action.kind) ? peer.sends : peer.receives;
    lists[static_cast<std::size_t>(message_kind(action.kind))].push_back(
        static_cast<std::int32_t>(i));
  }
  return traffic;
}

std::vector<std::optional<std::int32_t>> next_send_on_channel(const std::vector<Action>& actions) {
  std::vector<std::optional<std::int32_t>> next(actions.size());
  for (const PeerTraffic& peer : peer_traffic(actions)) {
    for (const std::vector<std::int32_t>& sends : peer.sends) {
      for (std::size_t i = 0; i + 1 < sends.size(); ++i) {
        next[static_cast<std::size_t>(sends[i])] = sends[i + 1];
      }
    }
  }
  return next;
}

}  // namespace stagewright
