#include "planner/axes/data.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

// 2 replicas x 3 micro-batches x 4 sequences x 8 tokens = 192 tokens; 5 tensor ranks each count the
// same loss.
TEST(DataAxis, ScalesMakeSumsOverRanksTheMeanPerToken) {
  Plan plan;
  plan.stages = even_stages(1, 1, 2, 5);
  plan.micro_batches = 3;
  plan.micro_batch_size = 4;
  plan.sequence = 8;
  EXPECT_DOUBLE_EQ(loss_gradient_scale(plan), 1.0 / 192);
  EXPECT_DOUBLE_EQ(loss_scale(plan), 1.0 / 960);
}

}  // namespace
}  // namespace stagewright
