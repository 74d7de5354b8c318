#include "planner/search/synthesise_plan.h"

#include <algorithm>
#include <memory>

#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "planner/lower/lower.h"
#include "sim/engine/static_pass.h"
#include "tests/support/tiny_models.h"

namespace stagewright {
namespace {

class SynthesisePlanTest : public testing::Test {
 protected:
  [[nodiscard]] Result<SynthesisedPlan> run(const Plan& plan, double memory_share = 1) const {
    return synthesise_plan(model_, cluster_, *cost_, plan, memory_share, 4);
  }
  [[nodiscard]] Simulation simulated(const Plan& plan) const {
    return simulate(lower(model_, cluster_, plan).value(), cluster_, *cost_, {}).value();
  }

  ModelGraph model_ = tiny_gpt(6);
  Cluster cluster_ = find_cluster(DataFiles::embedded(), "1x8xcpu").value();
  std::unique_ptr<CostModel> cost_ = make_analytical_cost();
};

TEST_F(SynthesisePlanTest, MakesAPlanFasterAndSaysHowFast) {
  for (const std::int32_t virtual_stages : {1, 2}) {
    Plan plan = plan_of(model_, {.pp = 4 * virtual_stages}, 8);
    plan.virtual_stages = virtual_stages;
    plan.schedule = virtual_stages == 1 ? "1f1b" : "interleaved-1f1b";
    const Result<SynthesisedPlan> made = run(plan);
    ASSERT_TRUE(made) << made.error().to_string();
    EXPECT_EQ(made->plan.schedule, "synth");
    EXPECT_EQ(made->before, simulated(plan).summary.step_time);
    EXPECT_EQ(made->step_time, simulated(made->plan).summary.step_time);
    EXPECT_LT(made->step_time, made->before);
  }
}

TEST_F(SynthesisePlanTest, ReadsTheSameOrderBackFromThePlanFile) {
  const Result<SynthesisedPlan> made = run(plan_of(model_, {.pp = 4}, 8));
  ASSERT_TRUE(made) << made.error().to_string();
  const Result<Plan> again = parse_plan(to_json_text(made->plan), "plan.json");
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(lower(model_, cluster_, *again).value(), lower(model_, cluster_, made->plan).value());
}

/// Memory between one micro-batch and all of them: caps have to bind.
TEST_F(SynthesisePlanTest, StaysWithinTheMemoryThatItMayUse) {
  const Plan plan = plan_of(model_, {.pp = 4}, 16);
  const Result<SynthesisedPlan> free = run(plan);
  ASSERT_TRUE(free) << free.error().to_string();
  Plan one = plan;
  one.micro_batches = 1;
  const Bytes least = simulated(one).summary.peak_memory;
  const Bytes middle((least.count() + free->peak_memory.count()) / 2);
  const double share = static_cast<double>(middle.count()) /
                       static_cast<double>(cluster_.types.front().memory.count());
  const Result<SynthesisedPlan> tight = run(plan, share);
  ASSERT_TRUE(tight) << tight.error().to_string();
  EXPECT_LE(tight->peak_memory, middle);
  EXPECT_GE(tight->step_time, free->step_time);
}

TEST_F(SynthesisePlanTest, KeepsAPlanThatFitsWhereNothingIsFaster) {
  const Result<SynthesisedPlan> once = run(plan_of(model_, {.pp = 4}, 8));
  ASSERT_TRUE(once) << once.error().to_string();
  // Only just enough memory for the plan as it is: lower caps would cost time.
  const double share = static_cast<double>(once->peak_memory.count() + 1) /
                       static_cast<double>(cluster_.types.front().memory.count());
  const Result<SynthesisedPlan> twice = run(once->plan, share);
  ASSERT_TRUE(twice) << twice.error().to_string();
  EXPECT_LE(twice->step_time, twice->before);
  EXPECT_EQ(twice->before, once->step_time);
}

TEST_F(SynthesisePlanTest, SaysWhichRankCannotHoldOneMicroBatch) {
  const Result<SynthesisedPlan> made = run(plan_of(model_, {.pp = 4}, 8), 1e-9);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kInfeasible);
  EXPECT_NE(made.error().message.find("for a single micro-batch"), std::string::npos)
      << made.error().message;
}

}  // namespace
}  // namespace stagewright
