#include "planner/lower/place_recomputation.h"

#include <gtest/gtest.h>

#include "core/schedule/semantics.h"
#include "planner/lower/lower.h"
#include "planner/schedules/pipeline_order.h"
#include "tests/support/program_text.h"
#include "tests/support/tiny_models.h"

namespace stagewright {
namespace {

Plan recomputing_plan(const ModelGraph& model, RecomputePlacement placement) {
  Plan plan = plan_of(model, {.pp = 2}, 2);
  for (StagePlan& stage : plan.stages) {
    stage.recompute = Recompute::kFull;
  }
  plan.recompute_placement = placement;
  return plan;
}

// Rank 0 recomputes micro-batch 0 while it waits for its gradient, which is received by then.
TEST(PlaceRecomputation, StandsBeforeTheBackwardAndBehindThePostedReceive) {
  const ModelGraph model = tiny_llama(2);
  const Schedule schedule =
      lower(model, cpu_cluster(2), recomputing_plan(model, RecomputePlacement::kAhead)).value();
  EXPECT_EQ(text_of(schedule.programs[0].actions),
            "0LOAD0 0F0 0SEND_F0 0LOAD1 0F1 0SEND_F1 0RECV_B0 0R0 0B0 0RECV_B1 0R1 0B1 STEP");
  const Result<void> valid = validate(schedule);
  EXPECT_TRUE(valid) << valid.error().to_string();
}

TEST(PlaceRecomputation, LeavesTheOperationsOutOfTheBackward) {
  const ModelGraph model = tiny_llama(2);
  const auto stage = [&](RecomputePlacement placement) {
    return lower(model, cpu_cluster(2), recomputing_plan(model, placement))->programs[0].stages[0];
  };
  const StageProgram inside = stage(RecomputePlacement::kBackward);
  const StageProgram ahead = stage(RecomputePlacement::kAhead);
  EXPECT_TRUE(inside.recompute.empty());
  EXPECT_FALSE(ahead.recompute.empty());
  EXPECT_EQ(inside.backward.size(), ahead.backward.size() + ahead.recompute.size());
}

/// 1F1B of two ranks with a recomputation of stage 0 one action earlier than it would stand.
PipelineOrder order_with_recomputation(const Plan& plan) {
  PipelineOrder order = pipeline_order(plan).value();
  Action early;
  early.kind = ActionKind::kRecompute;
  early.micro_batch = MicroBatchId(0);
  order.ranks[0].insert(order.ranks[0].begin() + 1, early);
  return order;
}

TEST(PlaceRecomputation, KeepsThoseOfAGivenOrderWhereTheyAre) {
  const ModelGraph model = tiny_llama(2);
  const Plan plan = recomputing_plan(model, RecomputePlacement::kBackward);
  const Schedule schedule =
      lower(model, cpu_cluster(2), plan, order_with_recomputation(plan)).value();
  EXPECT_EQ(text_of(schedule.programs[0].actions),
            "0LOAD0 0F0 0SEND_F0 0R0 0LOAD1 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0R1 0B1 STEP");
  EXPECT_TRUE(schedule.programs[1].stages[0].recompute.empty());
  const Result<void> valid = validate(schedule);
  EXPECT_TRUE(valid) << valid.error().to_string();
}

TEST(PlaceRecomputation, RefusesAnOrderThatRecomputesWhatThePlanKeeps) {
  const ModelGraph model = tiny_llama(2);
  Plan plan = recomputing_plan(model, RecomputePlacement::kBackward);
  const PipelineOrder order = order_with_recomputation(plan);
  plan.stages[0].recompute = Recompute::kNone;
  const Result<Schedule> schedule = lower(model, cpu_cluster(2), plan, order);
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().to_string(),
            "plan:/stages/0/recompute: schedule '1f1b' recomputes stage 0 (0R0), of which the plan "
            "keeps all activations; set recompute to 'selective' or 'full'");
}

TEST(PlaceRecomputation, SelectiveRepeatsOnlyAttentionCores) {
  const ModelGraph model = tiny_gpt(2);
  Plan plan = plan_of(model, {}, 1);
  plan.stages[0].recompute = Recompute::kSelective;
  plan.recompute_placement = RecomputePlacement::kAhead;
  const Schedule schedule = lower(model, cpu_cluster(1), plan).value();
  const std::vector<Operation>& ops = schedule.programs[0].stages[0].recompute;
  EXPECT_EQ(ops.size(), 2U);
  for (const Operation& op : ops) {
    EXPECT_EQ(op.kind, OpKind::kAttentionForward);
  }
}

}  // namespace
}  // namespace stagewright
