#include "gui/models/action_store.h"

#include <gtest/gtest.h>

#include "gui/models/action_walk.h"
#include "gui/models/row_layout.h"
#include "tests/unit/gui/made_traces.h"

namespace stagewright::gui {
namespace {

using namespace std::chrono_literals;

TraceEvent event(std::int32_t rank, const char* token, Duration start, Duration end) {
  const Action action = parse_action(token).value();
  TraceEvent event{.rank = RankId(rank), .action = action.kind};
  event.stage = action.stage;
  event.micro_batch = action.micro_batch;
  event.start = TimePoint(start);
  event.end = TimePoint(end);
  return event;
}

TEST(ActionStore, SortsTheEventsOfAStepIntoLanes) {
  Trace trace;
  trace.events = {event(1, "1F0", 2s, 3s),
                  event(0, "0B0", 4s, 6s),
                  event(0, "0F0", 0s, 1s),
                  event(0, "0RECV_B0", 3s, 4s),
                  event(0, "REDUCE0", 6s, 7s),
                  event(0, "0SEND_F0", 1s, 1s)};
  TraceEvent other_step = trace.events[0];
  other_step.step = 1;
  trace.events.push_back(other_step);
  const ActionStore store = store_actions(trace, 0);
  EXPECT_EQ(store.lanes,
            (std::vector<Lane>{{RankId(0), LaneUse::kCompute, 0, 0, 2},
                               {RankId(0), LaneUse::kTransfers, 0, 2, 3},
                               {RankId(0), LaneUse::kCollectives, 0, 3, 4},
                               {RankId(1), LaneUse::kCompute, 0, 4, 5}}));
  EXPECT_EQ(store.kind,
            (std::vector<ActionKind>{ActionKind::kForward,
                                     ActionKind::kBackward,
                                     ActionKind::kRecvGradient,
                                     ActionKind::kReduceGradients,
                                     ActionKind::kForward}));
  EXPECT_EQ(Duration(store.length), 7s);
  EXPECT_EQ(store.ranks, 2);
}

TEST(ActionStore, PutsWhatOverlapsIntoFurtherLanes) {
  Trace trace;
  trace.events = {event(0, "0F0", 0s, 3s), event(0, "1B0", 0s, 3s), event(0, "0F1", 3s, 4s)};
  const ActionStore store = store_actions(trace, 0);
  ASSERT_EQ(store.lanes.size(), 2U);
  EXPECT_EQ(store.lanes[0].end - store.lanes[0].begin, 2U);
  EXPECT_EQ(store.lanes[1].number, 1);
}

TEST(ActionStore, FindsWhatIsUnderATime) {
  Trace trace;
  trace.events = {event(0, "0F0", 0s, 1s), event(0, "0F1", 2s, 3s)};
  const ActionStore store = store_actions(trace, 0);
  const Lane& lane = store.lanes[0];
  EXPECT_EQ(store.at(lane, 0.5e12), ActionIndex{0});
  EXPECT_EQ(store.at(lane, 1.5e12), std::nullopt);
  EXPECT_EQ(store.at(lane, 2e12), ActionIndex{1});
  EXPECT_EQ(store.at(lane, 9e12), std::nullopt);
  EXPECT_EQ(nearest_in_lane(store, 0, 1.4e12), ActionIndex{0});
  EXPECT_EQ(nearest_in_lane(store, 0, 1.6e12), ActionIndex{1});
  EXPECT_EQ(nearest_in_lane(store, 0, 9e12), ActionIndex{1});
}

TEST(ActionStore, HoldsEveryActionOfAScheduleOnce) {
  const Trace trace = test::pipeline_trace("zb-h1", 4, 8);
  const ActionStore store = store_actions(trace, 0);
  EXPECT_EQ(store.size(), trace.events.size());
  for (const Lane& lane : store.lanes) {
    for (ActionIndex i = lane.begin + 1; i < lane.end; ++i) {
      EXPECT_GE(store.start[i], store.end[i - 1]);
    }
  }
}

TEST(ActionWalk, FollowsAMicroBatchThroughThePipelineAndBack) {
  const ActionStore store = store_actions(test::pipeline_trace("1f1b", 3, 2), 0);
  std::optional<ActionIndex> at = store.find(RankId(0), 0);
  std::string walk;
  while (at) {
    const Lane& lane = store.lanes[store.lane_of(*at)];
    walk += short_name(store, *at) + "@" + std::to_string(lane.rank.value()) + " ";
    at = neighbour_in_micro_batch(store, *at, Direction::kForth);
  }
  EXPECT_EQ(walk, "F0@0 F0@1 F0@2 B0@2 B0@1 B0@0 ");
}

TEST(RowLayout, GroupsCollapsesHidesAndPins) {
  const ActionStore store = store_actions(test::pipeline_trace("1f1b", 2, 2, 2), 0);
  const RankAxes axes{{.name = "copy", .position = {0, 0, 1, 1}}};
  RowChoices choices{.height = 20, .group_by = "copy", .communication = false};
  const auto labels = [&] {
    const RowLayout layout = lay_out_rows(store, axes, choices);
    std::string all;
    for (const LaidOutRow& row : layout.rows) {
      all += label_of(layout, row, store) + "; ";
    }
    return all;
  };
  EXPECT_EQ(labels(), "copy 0; rank 0; rank 1; copy 1; rank 2; rank 3; ");
  choices.collapsed = {1};
  EXPECT_EQ(labels(), "copy 0; rank 0; rank 1; copy 1; ");
  choices.hidden = {RankId(0)};
  choices.pinned = {RankId(3)};
  EXPECT_EQ(labels(), "rank 3; copy 0; rank 1; copy 1; ");
  choices = {.height = 20};
  EXPECT_EQ(labels(),
            "rank 0; rank 0 transfers; rank 1; rank 1 transfers; rank 2; rank 2 transfers; rank 3; "
            "rank 3 transfers; ");
  choices.height = 2;
  EXPECT_EQ(labels(), "rank 0; rank 1; rank 2; rank 3; ");
}

TEST(RowLayout, FindsRowsByHeightAndByLane) {
  const ActionStore store = store_actions(test::pipeline_trace("1f1b", 3, 2), 0);
  const RowLayout layout = lay_out_rows(store, {}, {.height = 10});
  ASSERT_EQ(layout.rows.size(), 6U);
  EXPECT_EQ(layout.row_at(-5), 0U);
  EXPECT_EQ(layout.row_at(10), 1U);
  EXPECT_EQ(layout.row_at(1000), 5U);
  for (LaneIndex lane = 0; lane < store.lanes.size(); ++lane) {
    EXPECT_EQ(layout.row_of(lane), lane);
  }
  EXPECT_EQ(RowLayout{}.row_at(0), std::nullopt);
}

}  // namespace
}  // namespace stagewright::gui
