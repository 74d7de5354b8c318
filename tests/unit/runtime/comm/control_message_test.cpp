#include "runtime/comm/control_message.h"

#include <random>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

[[nodiscard]] ControlMessage example() {
  return {.kind = ControlKind::kGaveUp,
          .rank = 70000,
          .code = ErrorCode::kUnsupported,
          .meetings = {{3, 1, std::uint64_t{1} << 40}, {4, 0, 7}},
          .text = "rank 0 waited",
          .extra = std::string("\0\xff", 2)};
}

TEST(ControlMessage, ComesBackAsItWasSentHoweverItArrives) {
  const std::string sent = encode(example()) + encode({.kind = ControlKind::kGoodbye});
  std::string received;
  std::vector<ControlMessage> messages;
  for (const char byte : sent) {
    received.push_back(byte);
    const auto message = take_message(received);
    ASSERT_TRUE(message.has_value());
    if (message->has_value()) {
      messages.push_back(**message);
    }
  }
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0], example());
  EXPECT_EQ(messages[1], ControlMessage{.kind = ControlKind::kGoodbye});
  EXPECT_EQ(received, "");
}

TEST(ControlMessage, RefusesBytesOfOthers) {
  std::string request = "GET / HTTP/1.1\r\nHost: node7\r\n\r\n";
  EXPECT_FALSE(take_message(request).has_value());
  std::string too_short = {5, 0, 0, 0, 1, 0, 0, 0, 0};
  EXPECT_FALSE(take_message(too_short).has_value());
  std::string unknown_kind = encode({.kind = static_cast<ControlKind>(200)});
  EXPECT_FALSE(take_message(unknown_kind).has_value());
}

// Whatever comes, it is read or refused; the sanitizers see an access beyond it.
TEST(ControlMessage, SurvivesAnyBytes) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = encode(example());
    for (int change = 0; change < 4; ++change) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    bytes.resize(random() % (bytes.size() + 1));
    (void)take_message(bytes);
  }
}

}  // namespace
}  // namespace stagewright
