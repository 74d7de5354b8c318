#include "planner/search/search.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "planner/lower/lower.h"
#include "planner/search/closed_form.h"
#include "planner/search/layer_costs.h"
#include "planner/search/space.h"
#include "sim/cost/calibrated_cost.h"
#include "sim/engine/static_pass.h"
#include "tests/support/tiny_models.h"

namespace stagewright {
namespace {

class SearchTest : public testing::Test {
 protected:
  SearchTest() {
    request_.global_batch = 16;
    request_.sequence = 8;
    request_.precision = {.compute = DType::kFloat32};
  }
  [[nodiscard]] Cluster cluster(const char* name) const {
    return find_cluster(DataFiles::embedded(), name).value();
  }
  [[nodiscard]] Result<SearchResult> run(const char* name) const {
    return search(model_, cluster(name), *cost_, request_);
  }
  /// The plan that the search would simulate for a point.
  [[nodiscard]] Plan plan_with(const SpacePoint& point,
                               const Cluster& cluster,
                               const Estimate& estimate) const {
    Plan plan = plan_of(point, common_plan(model_, cluster, request_));
    std::int32_t first = 0;
    for (const std::int32_t layers : estimate.stage_layers) {
      plan.stages.push_back({.first_layer = first,
                             .layers = layers,
                             .dp = point.dp,
                             .tp = point.tp,
                             .recompute = point.recompute});
      first += layers;
    }
    return plan;
  }
  struct Priced {
    SpacePoint point;
    Duration bound{};
    Duration step{};
  };
  /// Every point of the space, bounded and simulated, without any pruning.
  [[nodiscard]] std::vector<Priced> all_points(const Cluster& cluster) const {
    std::vector<Priced> result;
    const ClosedForm closed_form(cluster, *cost_, 1.0);
    for (const SpacePoint& point : enumerate_space(model_, cluster, request_).points) {
      Plan shape = plan_of(point, common_plan(model_, cluster, request_));
      shape.stages = {StagePlan{.tp = point.tp, .recompute = point.recompute}};
      const auto costs = layer_costs(model_, cluster, *cost_, shape);
      Overflow overflow;
      const auto estimate = closed_form.evaluate(point, costs.value(), overflow);
      const auto schedule = lower(model_, cluster, plan_with(point, cluster, estimate.value()));
      const auto simulation = simulate(schedule.value(), cluster, *cost_, {});
      result.push_back({point, estimate->bound, simulation->summary.step_time});
    }
    return result;
  }

  ModelGraph model_ = tiny_gpt(6);
  std::unique_ptr<CostModel> cost_ =
      make_calibrated_cost(load_step_constants(DataFiles::embedded()).value(),
                           find_framework(DataFiles::embedded(), "stagewright").value());
  SearchRequest request_;
};

TEST_F(SearchTest, TheBoundIsNeverAboveTheStaticPass) {
  for (const char* name : {"1x8xcpu", "2x4xh100-sxm", "2x4xa100-80gb-sxm"}) {
    const auto points = all_points(cluster(name));
    EXPECT_GT(points.size(), 50U);
    for (const Priced& priced : points) {
      EXPECT_LE(priced.bound, priced.step)
          << name << " dp" << priced.point.dp << " tp" << priced.point.tp << " pp"
          << priced.point.pp << " " << priced.point.micro_batches << "x"
          << priced.point.micro_batch_size << " " << priced.point.schedule;
    }
  }
}

TEST_F(SearchTest, PruningLosesNothing) {
  for (const char* name : {"1x8xcpu", "2x4xh100-sxm", "2x4xa100-80gb-sxm"}) {
    auto points = all_points(cluster(name));
    std::ranges::stable_sort(points, {}, &Priced::step);
    const auto result = run(name);
    ASSERT_TRUE(result.has_value()) << result.error().to_string();
    ASSERT_EQ(result->plans.size(), 10U);
    for (std::size_t i = 0; i < result->plans.size(); ++i) {
      EXPECT_EQ(result->plans[i].step_time, points[i].step) << name << " place " << i;
    }
  }
}

TEST_F(SearchTest, FixedChoicesAreKept) {
  request_.tp = 2;
  request_.pp = 2;
  request_.recompute = Recompute::kFull;
  request_.schedule = "gpipe";
  const auto result = run("1x8xcpu");
  ASSERT_TRUE(result.has_value());
  for (const Candidate& candidate : result->plans) {
    EXPECT_EQ(candidate.plan.uniform_tp(), 2);
    EXPECT_EQ(candidate.plan.uniform_dp(), 2);
    EXPECT_EQ(candidate.plan.pp(), 2);
    EXPECT_EQ(candidate.plan.schedule, "gpipe");
    EXPECT_EQ(candidate.plan.stages.front().recompute, Recompute::kFull);
    EXPECT_EQ(candidate.plan.global_batch(), 16);
  }
}

TEST_F(SearchTest, ContradictoryChoicesSayWhichProductIsNeeded) {
  request_.tp = 4;
  request_.pp = 4;
  const auto result = run("1x8xcpu");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kInfeasible);
  EXPECT_NE(result.error().message.find("8 devices"), std::string::npos);
}

TEST_F(SearchTest, RejectedPointsSayWhy) {
  request_.global_batch = 6;
  const auto result = run("1x8xcpu");
  ASSERT_TRUE(result.has_value());
  ASSERT_FALSE(result->rejected.empty());
  EXPECT_TRUE(std::ranges::any_of(result->rejected, [](const Rejection& rejection) {
    return rejection.reason == "global batch 6 is not divisible by dp 4";
  }));
}

TEST_F(SearchTest, StopsWhenAsked) {
  const std::atomic<bool> stop{true};
  const auto result = search(model_, cluster("1x8xcpu"), *cost_, request_, {.stop = &stop});
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(result->interrupted);
  EXPECT_TRUE(result->plans.empty());
}

}  // namespace
}  // namespace stagewright
