#include "planner/lower/check_order.h"

#include <string>

#include <gtest/gtest.h>

#include "planner/lower/lower.h"
#include "planner/schedules/pipeline_order.h"
#include "planner/schedules/registry.h"
#include "tests/support/tiny_models.h"

namespace stagewright {
namespace {

/// 8 micro-batches on 4 ranks, with the schedule's own number of stages.
Plan plan_for(const ScheduleGenerator& generator, const ModelGraph& model) {
  Plan plan = plan_of(model, {.pp = 4 * generator.default_virtual_stages}, 8);
  plan.virtual_stages = generator.default_virtual_stages;
  plan.schedule = std::string(generator.name);
  if (generator.asynchronous) {
    plan.optimizer.clip_norm.reset();
  }
  return plan;
}

TEST(CheckOrder, LetsInEveryListedSchedule) {
  const ModelGraph model = tiny_llama(6);
  for (const ScheduleGenerator& generator : schedule_generators()) {
    const Result<Schedule> schedule = lower(model, cpu_cluster(8), plan_for(generator, model));
    EXPECT_TRUE(schedule) << generator.name << ": " << schedule.error().to_string();
  }
}

TEST(CheckOrder, RefusesTwoCopiesOfAStageOnOneRank) {
  Plan plan = plan_of(tiny_llama(2), {.pp = 2}, 2);
  plan.schedule = "twins";
  PipelineOrder order;
  order.stages = 2;
  order.micro_batches = 2;
  order.ranks.resize(2);
  order.placement = {{0, 1}, {1, 1}};
  order.copy_of = {0, 1};
  const Result<void> checked = check_order(plan, order);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().to_string(),
            "plan:/schedule: schedule 'twins' puts two copies of stage 1 on one rank; each copy "
            "needs a rank of its own");
}

TEST(CheckOrder, RefusesAnOrderOfOtherSizes) {
  const ModelGraph model = tiny_llama(6);
  const Plan plan = plan_for(find_schedule("1f1b").value(), model);
  Plan larger = plan;
  larger.micro_batches = 16;
  const Result<Schedule> schedule =
      lower(model, cpu_cluster(8), larger, pipeline_order(plan).value());
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().to_string(),
            "plan:/schedule: schedule '1f1b' has 4 stages on 4 ranks and 8 micro-batches, but the "
            "plan 4 on 4 and 16");
}

TEST(CheckOrder, RefusesAnActionOnARankThatDoesNotHoldTheStage) {
  const ModelGraph model = tiny_llama(6);
  const Plan plan = plan_for(find_schedule("1f1b").value(), model);
  PipelineOrder order = pipeline_order(plan).value();
  order.ranks[2].push_back({.kind = ActionKind::kForward, .stage = StageId(1)});
  const Result<Schedule> schedule = lower(model, cpu_cluster(8), plan, order);
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().to_string(),
            "plan:/schedule: schedule '1f1b' has 1F0 on rank 2, where it does not belong");
}

TEST(CheckUpdates, RefusesShardedStatesAndVersionsTogether) {
  const ModelGraph model = tiny_llama(6);
  Plan plan = plan_for(find_schedule("pipedream").value(), model);
  plan.zero_stage = 1;
  const Result<Schedule> schedule = lower(model, cpu_cluster(8), plan);
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().where, "plan:/zero_stage");
}

TEST(CheckUpdates, RefusesANormThatNobodyKnows) {
  const ModelGraph model = tiny_llama(6);
  Plan plan = plan_for(find_schedule("pipedream").value(), model);
  plan.optimizer.clip_norm = 1.0;
  const Result<Schedule> schedule = lower(model, cpu_cluster(8), plan);
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().to_string(),
            "plan:/optimizer/clip_norm: clip_norm is 1, but under schedule 'pipedream' stages "
            "change their weights at different times, when no norm of the whole gradient is known; "
            "set it to null");
}

TEST(CheckUpdates, RefusesATiedWeightOnTwoRanks) {
  const ModelGraph model = tiny_gpt(6);
  const Result<Schedule> schedule =
      lower(model, cpu_cluster(8), plan_for(find_schedule("2bw").value(), model));
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().code, ErrorCode::kInfeasible);
  EXPECT_EQ(schedule.error().where, "plan:/schedule");
}

}  // namespace
}  // namespace stagewright
