#include "planner/lower/order_transfers.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/plan/plan.h"
#include "planner/schedules/pipeline_order.h"

namespace stagewright {
namespace {

PipelineOrder order_of(const std::string& schedule, std::int32_t pp, std::int32_t micro_batches) {
  Plan plan;
  plan.stages = even_stages(pp, pp, 1, 1);
  plan.micro_batches = micro_batches;
  plan.schedule = schedule;
  return pipeline_order(plan).value();
}

std::vector<std::string> texts_of(const std::vector<Transfer>& transfers) {
  std::vector<std::string> texts;
  texts.reserve(transfers.size());
  for (const Transfer& transfer : transfers) {
    texts.push_back(fmt::format("{}: {}{} {}->{}",
                                transfer.ready,
                                transfer.gradient ? "B" : "F",
                                transfer.micro_batch.value(),
                                transfer.sender,
                                transfer.receiver));
  }
  return texts;
}

// Rank 0: F0 [0,1] F1 [1,2] B0 [4,6] B1 [7,9].  Rank 1: F0 [1,2] B0 [2,4] F1 [4,5] B1 [5,7].
TEST(OrderTransfers, FollowsTheEndsOfTheProducers) {
  EXPECT_EQ(texts_of(order_transfers(order_of("1f1b", 2, 2)).value()),
            (std::vector<std::string>{"1: F0 0->1", "2: F1 0->1", "4: B0 1->0", "7: B1 1->0"}));
}

// At time 2 ranks 0 and 1 both send an activation, at 8 ranks 2 and 1 a gradient.
TEST(OrderTransfers, BreaksTiesInTheDirectionOfTravel) {
  EXPECT_EQ(texts_of(order_transfers(order_of("gpipe", 3, 2)).value()),
            (std::vector<std::string>{"1: F0 0->1",
                                      "2: F1 0->1",
                                      "2: F0 1->2",
                                      "3: F1 1->2",
                                      "6: B0 2->1",
                                      "8: B1 2->1",
                                      "8: B0 1->0",
                                      "10: B1 1->0"}));
}

TEST(OrderTransfers, StagesOnOneRankNeedNone) {
  PipelineOrder order;
  order.stages = 2;
  order.micro_batches = 1;
  order.placement = {{0, 0}};
  order.ranks.resize(1);
  for (const auto& [kind, stage] : {std::pair{ActionKind::kForward, 0},
                                    std::pair{ActionKind::kForward, 1},
                                    std::pair{ActionKind::kBackward, 1},
                                    std::pair{ActionKind::kBackward, 0}}) {
    Action action;
    action.kind = kind;
    action.stage = StageId(stage);
    order.ranks[0].push_back(action);
  }
  EXPECT_EQ(order_transfers(order).value(), std::vector<Transfer>());
}

TEST(OrderTransfers, AnOrderThatCannotRunIsAnErrorThatNamesTheCycle) {
  PipelineOrder order = order_of("gpipe", 2, 1);
  std::swap(order.ranks[0][0], order.ranks[0][1]);
  const Result<std::vector<Transfer>> transfers = order_transfers(order);
  ASSERT_FALSE(transfers);
  EXPECT_EQ(transfers.error().to_string(),
            "plan:/schedule: the order of the schedule cannot run: deadlock: rank 0 action 0 (0B0) "
            "waits for rank 0 action 1 (0F0), which is reached only after rank 0 action 0 (0B0)");
}

}  // namespace
}  // namespace stagewright
