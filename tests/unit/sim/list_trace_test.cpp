#include "sim/analysis/list_trace.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/analysis/order_check.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;

TokenList two_ranks(const std::vector<std::vector<std::string>>& ranks,
                    std::int32_t micro_batches) {
  TokenList list{.stages = 2, .micro_batches = micro_batches, .placement = {{0, 1}}};
  list.copy_of.assign(static_cast<std::size_t>(micro_batches), 0);
  for (const auto& tokens : ranks) {
    std::vector<ListItem>& items = list.ranks.emplace_back();
    for (const std::string& token : tokens) {
      items.push_back(parse_list_item(token).value());
    }
  }
  return list;
}

/// "0: 0F0 0 0-1": rank, action, posted, start and end in seconds.
std::vector<std::string> lines(const Trace& trace) {
  std::vector<std::string> lines;
  const auto seconds = [](TimePoint time) {
    return std::to_string(time.time_since_epoch() / Duration(1s));
  };
  for (const TraceEvent& event : trace.events) {
    lines.push_back(
        std::to_string(event.rank.value()) + ": " +
        to_string(
            Action{.kind = event.action, .stage = event.stage, .micro_batch = event.micro_batch}) +
        " " + seconds(event.posted) + " " + seconds(event.start) + "-" + seconds(event.end));
  }
  return lines;
}

PipelineCosts unit_costs(Duration transfer, double overlap = 1) {
  return costs_per_stage({.forward = 1s, .backward = 2s, .transfer = transfer, .overlap = overlap},
                         2);
}

TEST(ListTrace, HoldsActionsAndTheMessagesThatTheyWaitFor) {
  const TokenList list = two_ranks({{"0F0", "LOAD", "0B0"}, {"1F0", "1B0"}}, 1);
  const PipelineCosts costs = unit_costs(3s);
  const Trace trace = list_trace(list, costs, time_list(list, costs));
  EXPECT_EQ(lines(trace),
            (std::vector<std::string>{"0: 0F0 0 0-1",
                                      "0: 0RECV_B0 7 7-10",
                                      "0: 0B0 1 10-12",
                                      "1: 1RECV_F0 1 1-4",
                                      "1: 1F0 0 4-5",
                                      "1: 1B0 5 5-7"}));
  EXPECT_EQ(trace.events[2].action_index, 2);
  EXPECT_EQ(trace.step_times, std::vector<Duration>{12s});
  EXPECT_TRUE(parse_trace(to_chrome_json(trace), "trace").has_value());
}

TEST(ListTrace, HasNoMessagesWithoutTransferTime) {
  const TokenList list = two_ranks({{"0F0", "0B0"}, {"1F0", "1B0"}}, 1);
  const PipelineCosts costs = unit_costs(0s);
  EXPECT_EQ(list_trace(list, costs, time_list(list, costs)).events.size(), 4U);
}

TEST(ListTrace, ShowsBothActionsOfAPairOverTheSameTime) {
  const TokenList list =
      two_ranks({{"0F0", "0F1", "0B0", "0B1"}, {"1F0", "(1F1;1B0)OVERLAP_F_B", "1B1"}}, 2);
  const PipelineCosts costs = unit_costs(0s, 2.0 / 3);
  const auto all = lines(list_trace(list, costs, time_list(list, costs)));
  EXPECT_EQ(
      std::vector<std::string>(all.begin() + 4, all.end()),
      (std::vector<std::string>{"1: 1F0 0 1-2", "1: 1F1 2 2-4", "1: 1B0 2 2-4", "1: 1B1 4 4-6"}));
}

TEST(ListTrace, FollowsAQueueModel) {
  const TokenList list = two_ranks(
      {{"0F0", "0SEND_F0", "0RECV_B0", "0B0"}, {"1RECV_F0", "1F0", "1B0", "1SEND_B0"}}, 1);
  const PipelineCosts costs = unit_costs(3s);
  const Trace trace = list_trace(list, costs, time_list(list, costs, QueueModel::kRank));
  EXPECT_EQ(lines(trace).at(1), "0: 0RECV_B0 7 7-10");
  EXPECT_EQ(trace.events[1].action_index, 3);
}

}  // namespace
}  // namespace stagewright
