#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace stagewright {

/// What processes of a run tell rank 0 and are told by it, beside the data that they exchange.
enum class ControlKind : std::uint8_t {
  kHello,     ///< to 0: rank, text = token, extra = what the world looks like
  kWelcome,   ///< from 0: all are there; extra = what rank 0 gives to all
  kRefused,   ///< from 0: text = why
  kArrived,   ///< to 0: the rank has begun its part of a meeting; text = the contract
  kGaveUp,    ///< to 0: text = what the rank waited for, at which meetings; extra = or why
  kAbort,     ///< to 0, and from 0 to all: text and extra = message and place of the error
  kAsk,       ///< from 0: what are you doing?
  kActivity,  ///< to 0: text = the answer
  kGoodbye,   ///< to 0: the rank has ended well
  kNoStart,   ///< to 0, instead of a hello: the rank cannot begin; text = why, extra = token
};

/// An operation of a group or a link: which place of the world (0: all ranks, then the groups, then
/// the links), which operation there, and as which of its members.
struct MeetingNumber {
  std::uint32_t place = 0;
  std::uint32_t member = 0;
  std::uint64_t sequence = 0;
  friend auto operator<=>(const MeetingNumber&, const MeetingNumber&) = default;
};

struct ControlMessage {
  ControlKind kind = ControlKind::kGoodbye;
  std::uint32_t rank = 0;
  ErrorCode code = ErrorCode::kBackendFailed;  ///< of kAbort
  std::vector<MeetingNumber> meetings;
  std::string text;
  std::string extra;
  friend bool operator==(const ControlMessage&, const ControlMessage&) = default;
};

/// Its bytes, with their number in front.
[[nodiscard]] std::string encode(const ControlMessage& message);

/// Takes the first message off `bytes`; nothing if it has not come whole.  kBackendFailed where
/// these are no messages of ours.
[[nodiscard]] Result<std::optional<ControlMessage>> take_message(std::string& bytes);

}  // namespace stagewright
