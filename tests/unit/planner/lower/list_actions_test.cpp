#include "planner/lower/list_actions.h"

#include <gtest/gtest.h>

#include "planner/lower/lower.h"
#include "tests/support/program_text.h"
#include "tests/support/tiny_models.h"

namespace stagewright {
namespace {

std::vector<std::string> lists_of(const Plan& plan, const ModelGraph& model) {
  const Result<Schedule> schedule = lower(model, cpu_cluster(8), plan);
  std::vector<std::string> texts;
  if (!schedule) {
    texts.push_back(schedule.error().to_string());
    return texts;
  }
  for (const RankProgram& program : schedule->programs) {
    texts.push_back(text_of(program.actions));
  }
  return texts;
}

TEST(ListActions, ASingleRankLoadsComputesAndSteps) {
  const ModelGraph model = tiny_llama(1);
  EXPECT_EQ(lists_of(plan_of(model, {}, 2), model),
            (std::vector<std::string>{"0LOAD0 0F0 0B0 0LOAD1 0F1 0B1 STEP"}));
}

// Sends stand behind what makes them, receives one computation ahead of what needs them where no
// earlier message stands between: rank 0 waits for B2 while it computes B1.
TEST(ListActions, TwoStagesOfOneForwardOneBackward) {
  const ModelGraph model = tiny_llama(2);
  EXPECT_EQ(
      lists_of(plan_of(model, {.pp = 2}, 3), model),
      (std::vector<std::string>{"0LOAD0 0F0 0SEND_F0 0LOAD1 0F1 0SEND_F1 0RECV_B0 0B0 "
                                "0LOAD2 0F2 0SEND_F2 0RECV_B1 0RECV_B2 0B1 0B2 STEP",
                                "1RECV_F0 1LOAD0 1F0 1RECV_F1 1B0 1SEND_B0 "
                                "1LOAD1 1F1 1RECV_F2 1B1 1SEND_B1 1LOAD2 1F2 1B2 1SEND_B2 STEP"}));
}

TEST(ListActions, GPipePostsEachReceiveOneActionAhead) {
  const ModelGraph model = tiny_llama(2);
  Plan plan = plan_of(model, {.pp = 2}, 2);
  plan.schedule = "gpipe";
  EXPECT_EQ(lists_of(plan, model),
            (std::vector<std::string>{
                "0LOAD0 0F0 0SEND_F0 0LOAD1 0F1 0SEND_F1 0RECV_B0 0RECV_B1 0B0 0B1 STEP",
                "1RECV_F0 1RECV_F1 1LOAD0 1F0 1LOAD1 1F1 1B0 1SEND_B0 1B1 1SEND_B1 STEP"}));
}

TEST(ListActions, BucketsAreReducedBehindTheLastBackward) {
  const ModelGraph model = tiny_llama(2);
  Plan plan = plan_of(model, {.dp = 2}, 2);
  plan.bucket_size = Bytes(20'000);
  const std::vector<std::string> lists = lists_of(plan, model);
  ASSERT_EQ(lists.size(), 1U);
  EXPECT_EQ(lists[0], "0LOAD0 0F0 0B0 0LOAD1 0F1 0B1 REDUCE0 REDUCE1 STEP");
}

}  // namespace
}  // namespace stagewright
