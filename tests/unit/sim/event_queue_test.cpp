#include "sim/engine/event_queue.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

TEST(EventQueue, GivesEventsByTimeThenNodeThenKind) {
  EventQueue queue;
  const std::vector<Event> sorted = {{Duration(1), 7, Event::Kind::kBegin},
                                     {Duration(1), 7, Event::Kind::kDue},
                                     {Duration(1), 9, Event::Kind::kBegin},
                                     {Duration(2), 0, Event::Kind::kDue}};
  for (const std::size_t i : {2U, 0U, 3U, 1U}) {
    queue.push(sorted[i]);
  }
  std::vector<Event> popped;
  while (!queue.empty()) {
    popped.push_back(queue.pop());
  }
  EXPECT_EQ(popped, sorted);
}

TEST(EventQueue, SortsWhateverIsPushedAndPoppedInBetween) {
  constexpr unsigned kSeed = 4711;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937 random(kSeed);
  std::uniform_int_distribution<std::int64_t> step(0, 50);
  EventQueue queue;
  std::vector<Event> waiting;
  Duration now{};
  for (int round = 0; round < 5000; ++round) {
    if (waiting.empty() || random() % 3 != 0) {
      const Event event{
          now + Duration(step(random)), static_cast<NodeIndex>(round), Event::Kind::kDue};
      queue.push(event);
      waiting.push_back(event);
    } else {
      const auto first = std::ranges::min_element(
          waiting, [](const Event& a, const Event& b) { return a.before(b); });
      ASSERT_EQ(queue.next(), *first);
      ASSERT_EQ(queue.pop(), *first);
      now = first->at;
      waiting.erase(first);
    }
  }
}

}  // namespace
}  // namespace stagewright
