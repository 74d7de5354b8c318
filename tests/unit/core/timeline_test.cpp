#include "core/trace/timeline.h"

#include <string>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

using namespace std::chrono_literals;

TraceEvent event(std::int32_t rank, Action action, Duration start, Duration end) {
  TraceEvent event{.rank = RankId(rank), .action = action.kind};
  event.stage = action.stage;
  event.micro_batch = action.micro_batch;
  event.start = TimePoint(start);
  event.end = TimePoint(end);
  return event;
}

Action action(const std::string& token) {
  return parse_action(token).value();
}

TimelineBox box(const std::string& token, Duration start, Duration end, std::int32_t chunk = 0) {
  return {
      .start = TimePoint(start), .end = TimePoint(end), .action = action(token), .chunk = chunk};
}

TEST(Timeline, PutsTheActionsOfARankIntoARow) {
  Trace trace;
  trace.ranks = 2;
  trace.events = {event(1, action("1F0"), 2s, 3s),
                  event(0, action("3F1"), 5s, 6s),
                  event(0, action("0F0"), 0s, 1s),
                  event(0, action("0RECV_B0"), 3s, 4s),
                  event(0, action("0SEND_F0"), 1s, 1s)};
  TraceEvent operation = trace.events[0];
  operation.op_index = 0;
  trace.events.push_back(operation);
  TraceEvent later = trace.events[0];
  later.step = 1;
  trace.events.push_back(later);
  const Timeline expected{
      .rows = {{.rank = RankId(0),
                .boxes = {box("0F0", 0s, 1s), box("3F1", 5s, 6s, 1)},
                .messages = {box("0RECV_B0", 3s, 4s)},
                .busy = 2s},
               {.rank = RankId(1), .boxes = {box("1F0", 2s, 3s)}, .messages = {}, .busy = 1s}},
      .length = 6s,
      .chunks = 2};
  EXPECT_EQ(make_timeline(trace), expected);
}

TEST(Timeline, MakesOneBoxOfAnOverlappedPair) {
  Trace trace;
  trace.events = {event(0, action("0F1"), 0s, 3s), event(0, action("1B0"), 0s, 3s)};
  const Timeline timeline = make_timeline(trace);
  ASSERT_EQ(timeline.rows.at(0).boxes.size(), 1U);
  EXPECT_EQ(timeline.rows[0].boxes[0].paired, action("1B0"));
  EXPECT_EQ(timeline.rows[0].busy, 3s);
}

TEST(Timeline, OfNothingIsEmpty) {
  EXPECT_EQ(make_timeline({}), Timeline{});
  EXPECT_TRUE(join_short({}, 1s).empty());
}

TEST(Timeline, JoinsShortNeighbours) {
  const std::vector<TimelineBox> boxes{box("0F0", 0s, 1s),
                                       box("0F1", 1s, 2s),
                                       box("0B0", 2s, 4s),   // long enough with these
                                       box("0F2", 4s, 14s),  // for itself
                                       box("0F3", 14s, 15s),
                                       box("0F4", 30s, 31s)};  // behind a long gap
  const auto at = [](Duration time) { return TimePoint(time); };
  const std::vector<TimelineSpan> expected{{at(0s), at(4s), 0, 3, 4s, ActionKind::kForward},
                                           {at(4s), at(14s), 3, 1, 10s, ActionKind::kForward},
                                           {at(14s), at(15s), 4, 1, 1s, ActionKind::kForward},
                                           {at(30s), at(31s), 5, 1, 1s, ActionKind::kForward}};
  EXPECT_EQ(join_short(boxes, 4s), expected);
}

TEST(Timeline, MarksTheAxisInRoundNumbers) {
  EXPECT_EQ(axis_marks(33s, {}, 7), (std::vector<double>{0, 5, 10, 15, 20, 25, 30}));
  EXPECT_EQ(axis_marks(33s, {}, 4), (std::vector<double>{0, 10, 20, 30}));
  EXPECT_EQ(axis_marks(4ms, {1e-3, "ms"}, 4), (std::vector<double>{0, 1, 2, 3, 4}));
  EXPECT_EQ(axis_marks(Duration{}, {}, 4), std::vector<double>{0});
}

TEST(Timeline, CountsInUnitsThatPeopleUse) {
  EXPECT_EQ(usual_unit(90s).name, "s");
  EXPECT_EQ(usual_unit(20ms), (TimeUnit{1e-3, "ms"}));
  EXPECT_EQ(usual_unit(Duration{}).name, "ns");
}

}  // namespace
}  // namespace stagewright
