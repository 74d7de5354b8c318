#include <gtest/gtest.h>

#include "gui/models/search_query.h"
#include "gui/models/selection_statistics.h"
#include "gui/models/view_history.h"
#include "tests/unit/gui/made_traces.h"

namespace stagewright::gui {
namespace {

std::vector<std::string> found(const std::string& text, const ActionStore& store) {
  std::vector<std::string> names;
  for (const ActionIndex action : find_actions(parse_search(text).value(), store)) {
    names.push_back(short_name(store, action) + "@" +
                    std::to_string(store.lanes[store.lane_of(action)].rank.value()));
  }
  return names;
}

TEST(Search, MeetsAllTerms) {
  const ActionStore store = store_actions(test::pipeline_trace("1f1b", 2, 3), 0);
  EXPECT_EQ(found("F1", store), (std::vector<std::string>{"F1@0", "F1@1"}));
  EXPECT_EQ(found("kind:backward mb:2", store), (std::vector<std::string>{"B2@0", "B2@1"}));
  EXPECT_EQ(found("kind:b rank:1 mb:0-1", store), (std::vector<std::string>{"B0@1", "B1@1"}));
  EXPECT_EQ(found("kind:f start<500ms", store), (std::vector<std::string>{"F0@0"}));
  EXPECT_EQ(found("dur>1500ms stage:0", store).size(), 3U);
  EXPECT_TRUE(found("mb:77", store).empty());
  EXPECT_TRUE(found("  ", store).empty());
}

TEST(Search, SaysWhatMayBeWritten) {
  for (const char* const text : {"speed:3", "mb:x", "dur>fast", "kind:zzz", "Q7"}) {
    const auto query = parse_search(text);
    ASSERT_FALSE(query) << text;
    EXPECT_NE(query.error().message.find("kind:B"), std::string::npos) << query.error().message;
  }
}

TEST(SelectionStatistics, CountsWhatLiesWithin) {
  using namespace std::chrono_literals;
  // Two ranks, 1F1B, two micro-batches: 2 (F + B) = 6 s of work on each, and the pipeline is
  // filled and drained once: 6 + F + B = 9 s, with the messages (50 ms each way) 9.1 s.
  const ActionStore store = store_actions(test::pipeline_trace("1f1b", 2, 2), 0);
  const SelectionStatistics all = statistics_of(store, everything(store));
  EXPECT_EQ(all.length, 9100ms);
  EXPECT_EQ(all.compute_lanes, 2U);
  EXPECT_EQ(all.busy, 12s);
  EXPECT_DOUBLE_EQ(all.idle_share, 1 - 12 / (2 * 9.1));
  ASSERT_FALSE(all.kinds.empty());
  EXPECT_EQ(all.kinds[0],
            (KindStatistics{.kind = ActionKind::kBackward,
                            .count = 4,
                            .total = 8s,
                            .mean = 2s,
                            .least = 2s,
                            .most = 2s}));
  const SelectionStatistics part =
      statistics_of(store, {.from = 500'000'000'000, .to = 1'000'000'000'000, .lanes = {0}});
  EXPECT_EQ(part.busy, 500ms);
  EXPECT_EQ(part.idle_share, 0);
}

TEST(ViewHistory, GoesBackAndForthAndForgetsWhatLayAhead) {
  const auto view = [](double start) {
    return ViewHistory::View{.window = {start, 1}, .scroll = 0};
  };
  ViewHistory history;
  EXPECT_EQ(history.back(), std::nullopt);
  history.note(view(1));
  history.note(view(2));
  history.note(view(2));
  history.note(view(3));
  EXPECT_EQ(history.back(), view(2));
  EXPECT_EQ(history.back(), view(1));
  EXPECT_EQ(history.back(), std::nullopt);
  EXPECT_EQ(history.forward(), view(2));
  history.note(view(4));
  EXPECT_EQ(history.forward(), std::nullopt);
  EXPECT_EQ(history.back(), view(2));
}

}  // namespace
}  // namespace stagewright::gui
