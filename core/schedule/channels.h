#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/schedule/rank_program.h"

namespace stagewright {

/// What crosses the border between two stages.
enum class MessageKind : std::uint8_t {
  kActivation,
  kGradient
};
inline constexpr int kMessageKindCount = 2;

/// REQUIRES: a send or a receive.
[[nodiscard]] MessageKind message_kind(ActionKind kind);

/// The lower of the two stages that a message connects: the same on both sides.
/// REQUIRES: a send or a receive.
[[nodiscard]] StageId message_border(const Action& action);

/// The kind and stage of the same message on its other side; the rest as it is.
/// REQUIRES: a send or a receive.
[[nodiscard]] ActionKind other_side(ActionKind kind);
[[nodiscard]] Action other_side(const Action& action);

/// The messages of one program through one peer slot: action indices in list order, by MessageKind.
struct PeerTraffic {
  std::array<std::vector<std::int32_t>, kMessageKindCount> sends;
  std::array<std::vector<std::int32_t>, kMessageKindCount> receives;
};

/// By peer slot, up to the highest one in use.
[[nodiscard]] std::vector<PeerTraffic> peer_traffic(const std::vector<Action>& actions);

}  // namespace stagewright
