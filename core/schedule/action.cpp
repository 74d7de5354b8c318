#include "core/schedule/action.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

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
    case ActionKind::kUpdateParameters:
      return "update-parameters";
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

bool has_version(ActionKind kind) {
  return is_compute(kind) || kind == ActionKind::kUpdateParameters;
}

bool completes_gradients(ActionKind kind) {
  return kind == ActionKind::kBackward || kind == ActionKind::kBackwardWeight;
}

bool is_send(ActionKind kind) {
  return kind == ActionKind::kSendActivation || kind == ActionKind::kSendGradient;
}

bool is_receive(ActionKind kind) {
  return kind == ActionKind::kRecvActivation || kind == ActionKind::kRecvGradient;
}

namespace {
constexpr std::string_view kReduceToken = "REDUCE";
constexpr std::string_view kGatherToken = "GATHER";

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
    case ActionKind::kUpdateParameters:
      return "U";
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
    std::string text =
        fmt::format("{}{}{}", action.stage.value(), *token, action.micro_batch.value());
    if (action.version != 0) {
      text += fmt::format("v{}", action.version);
    }
    return text;
  }
  if (action.kind == ActionKind::kOptimizerStep) {
    return "STEP";
  }
  std::string text =
      fmt::format("{}{}",
                  action.kind == ActionKind::kReduceGradients ? kReduceToken : kGatherToken,
                  action.bucket.value());
  if (action.micro_batch.value() != 0) {
    text += fmt::format("m{}", action.micro_batch.value());
  }
  return text;
}

namespace {
/// Takes a number without sign off the front.
std::optional<std::int32_t> take_number(std::string_view& text) {
  std::int32_t value = 0;
  if (text.empty() || text.front() < '0' || text.front() > '9') {
    return std::nullopt;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<Action> parse_bucket_action(std::string_view text) {
  for (const auto& [token, kind] : {std::pair(kReduceToken, ActionKind::kReduceGradients),
                                    std::pair(kGatherToken, ActionKind::kGatherParameters)}) {
    if (text.starts_with(token)) {
      text.remove_prefix(token.size());
      const auto bucket = take_number(text);
      std::optional<std::int32_t> micro_batch = 0;
      if (text.starts_with('m')) {
        text.remove_prefix(1);
        micro_batch = take_number(text);
      }
      if (bucket && micro_batch && text.empty()) {
        return Action{
            .kind = kind, .micro_batch = MicroBatchId(*micro_batch), .bucket = BucketId(*bucket)};
      }
    }
  }
  return std::nullopt;
}

/// The kind whose token stands before the next digit.
std::optional<ActionKind> take_kind(std::string_view& text) {
  const std::size_t length = std::min(text.find_first_of("0123456789"), text.size());
  for (int i = 0; i < kActionKindCount; ++i) {
    const auto kind = static_cast<ActionKind>(i);
    if (token_of(kind) == text.substr(0, length)) {
      text.remove_prefix(length);
      return kind;
    }
  }
  return std::nullopt;
}
}  // namespace

std::optional<Action> parse_action(std::string_view text) {
  if (text == "STEP") {
    return Action{.kind = ActionKind::kOptimizerStep};
  }
  const auto stage = take_number(text);
  if (!stage) {
    return parse_bucket_action(text);
  }
  const auto kind = take_kind(text);
  const auto micro_batch = take_number(text);
  if (!kind || !micro_batch) {
    return std::nullopt;
  }
  Action action{.kind = *kind, .stage = StageId(*stage), .micro_batch = MicroBatchId(*micro_batch)};
  if (text.starts_with('v') && has_version(*kind)) {
    text.remove_prefix(1);
    const auto version = take_number(text);
    if (!version || *version > std::numeric_limits<std::uint16_t>::max()) {
      return std::nullopt;
    }
    action.version = static_cast<std::uint16_t>(*version);
  }
  if (text.starts_with('@') && (is_send(*kind) || is_receive(*kind))) {
    text.remove_prefix(1);
    const auto peer = take_number(text);
    if (!peer) {
      return std::nullopt;
    }
    action.peer = PeerSlot(*peer);
  }
  return text.empty() ? std::optional(action) : std::nullopt;
}

}  // namespace stagewright
