#include "runtime/comm/control_message.h"

#include <concepts>
#include <string_view>

namespace stagewright {

namespace {

/// No message of ours is longer: the largest carries an error text.
constexpr std::uint32_t kLongest = 1U << 20;

/// Least significant byte first.
template <std::unsigned_integral T>
void put(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out.push_back(static_cast<char>(value >> (8 * i) & 0xFFU));
  }
}

void put(std::string& out, const std::string& text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <std::unsigned_integral T>
  [[nodiscard]] T number() {
    T value = 0;
    const std::string_view taken = take(sizeof(T));
    for (std::size_t i = 0; i < taken.size(); ++i) {
      value = static_cast<T>(value | static_cast<T>(static_cast<unsigned char>(taken[i])) << 8 * i);
    }
    return value;
  }
  [[nodiscard]] std::string text() { return std::string(take(number<std::uint32_t>())); }
  /// Nothing was missing and nothing is left.
  [[nodiscard]] bool complete() const { return !short_ && bytes_.empty(); }
  [[nodiscard]] bool ran_out() const { return short_; }

 private:
  std::string_view take(std::size_t count) {
    if (count > bytes_.size()) {
      short_ = true;
      bytes_ = {};
      return {};
    }
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  std::string_view bytes_;
  bool short_ = false;
};

}  // namespace

std::string encode(const ControlMessage& message) {
  std::string body;
  put(body, static_cast<std::uint8_t>(message.kind));
  put(body, message.rank);
  put(body, static_cast<std::uint8_t>(message.code));
  put(body, static_cast<std::uint32_t>(message.meetings.size()));
  for (const MeetingNumber& meeting : message.meetings) {
    put(body, meeting.place);
    put(body, meeting.member);
    put(body, meeting.sequence);
  }
  put(body, message.text);
  put(body, message.extra);
  std::string bytes;
  put(bytes, body);
  return bytes;
}

Result<std::optional<ControlMessage>> take_message(std::string& bytes) {
  const auto foreign = [] {
    return fail(ErrorCode::kBackendFailed, "bytes came that are no message of this program");
  };
  if (bytes.size() < sizeof(std::uint32_t)) {
    return std::nullopt;
  }
  const auto length = Reader(std::string_view(bytes).substr(0, 4)).number<std::uint32_t>();
  if (length > kLongest) {
    return foreign();
  }
  if (bytes.size() < sizeof length + length) {
    return std::nullopt;
  }
  Reader reader(std::string_view(bytes).substr(sizeof length, length));
  ControlMessage message;
  const auto kind = reader.number<std::uint8_t>();
  message.kind = static_cast<ControlKind>(kind);
  message.rank = reader.number<std::uint32_t>();
  const auto code = reader.number<std::uint8_t>();
  message.code = static_cast<ErrorCode>(code);
  const auto meetings = reader.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < meetings && !reader.ran_out(); ++i) {
    MeetingNumber meeting;
    meeting.place = reader.number<std::uint32_t>();
    meeting.member = reader.number<std::uint32_t>();
    meeting.sequence = reader.number<std::uint64_t>();
    message.meetings.push_back(meeting);
  }
  message.text = reader.text();
  message.extra = reader.text();
  if (!reader.complete() || kind > static_cast<std::uint8_t>(ControlKind::kNoStart) ||
      code > static_cast<std::uint8_t>(ErrorCode::kBackendFailed)) {
    return foreign();
  }
  bytes.erase(0, sizeof length + length);
  return message;
}

}  // namespace stagewright
