#include "planner/search/search.h"

#include <algorithm>
#include <memory>

#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "core/model/transformer.h"
#include "planner/lower/lower.h"
#include "planner/search/front.h"
#include "planner/search/simulate_leaves.h"
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
  [[nodiscard]] static Cluster cluster(const char* name) {
    return find_cluster(DataFiles::embedded(), name).value();
  }
  void fix(const char* name, const char* values) {
    ASSERT_TRUE(constrain(request_.constraints, name, values).has_value());
  }
  [[nodiscard]] Result<SearchResult> run(const char* name) const {
    return search(model_, cluster(name), *cost_, request_);
  }
  struct Priced {
    PlanPoint point;
    Bound bound;
    Duration step{};
    Bytes memory{};
  };
  /// Points of the space, bounded and simulated, without any pruning: every `stride`-th of them.
  [[nodiscard]] std::vector<Priced> points(const Cluster& cluster, std::size_t stride = 1) const {
    const Plan common = common_plan(model_, cluster, request_);
    const GroupPlaces places(cluster);
    CostCache costs(model_, cluster, *cost_, common, places);
    const ClosedForm::Job job{.model = &model_,
                              .cluster = &cluster,
                              .cost = cost_.get(),
                              .places = &places,
                              .costs = &costs,
                              .capacity = cluster.types.front().memory,
                              .context = cluster.types.front().context};
    OrderCache orders;
    std::vector<Priced> result;
    std::size_t number = 0;
    for_each_point(space_job(model_, cluster, request_), [&](const PlanPoint& point) {
      if (number++ % stride != 0) {
        return true;
      }
      Leaf leaf{point, 0, ClosedForm(job).whole(point, Duration::max())};
      const auto schedule = lower(model_, cluster, complete(leaf, common));
      EXPECT_TRUE(schedule.has_value()) << schedule.error().to_string();
      const auto simulation = simulate(schedule.value(), cluster, *cost_, {});
      const Bound closed = leaf.estimate.bound;
      WalkJob walk;
      walk.closed_form = job;
      walk.request = &request_;
      refine(walk, orders, leaf);
      EXPECT_GE(leaf.estimate.bound.time, closed.time);
      result.push_back({point,
                        leaf.estimate.bound,
                        simulation->summary.step_time,
                        simulation->summary.peak_memory});
      return true;
    });
    return result;
  }
  [[nodiscard]] static std::string text(const PlanPoint& point) {
    std::string result;
    for (const Dimension& dimension : dimensions()) {
      result +=
          std::string(dimension.name) + "=" + value_text(dimension, dimension.get(point)) + " ";
    }
    return result;
  }

  ModelGraph model_ = tiny_gpt(6);
  std::unique_ptr<CostModel> cost_ =
      make_calibrated_cost(load_step_constants(DataFiles::embedded()).value(),
                           find_framework(DataFiles::embedded(), "stagewright").value());
  SearchRequest request_;
};

TEST_F(SearchTest, TheBoundsAreNeverAboveTheStaticPass) {
  for (const char* name : {"1x8xcpu", "2x4xh100-sxm", "2x4xa100-80gb-sxm"}) {
    const auto all = points(cluster(name), 1213);
    EXPECT_GT(all.size(), 50U);
    for (const Priced& priced : all) {
      EXPECT_LE(priced.bound.time, priced.step) << name << " " << text(priced.point);
      EXPECT_LE(priced.bound.memory, priced.memory) << name << " " << text(priced.point);
    }
  }
}

/// Enough weights that what replicas exchange takes as long as the layers.
ModelGraph wide_model() {
  TransformerShape shape;
  shape.layers = 6;
  shape.hidden = 1024;
  shape.heads = shape.kv_heads = 16;
  shape.head_dim = 64;
  shape.feed_forward = 4096;
  shape.vocabulary = 1024;
  shape.max_sequence = 8;
  return make_transformer("wide", "gpt2", shape).value();
}

TEST_F(SearchTest, TheBoundsHoldWhereReplicasExchangeMuch) {
  model_ = wide_model();
  request_.global_batch = 32;
  request_.precision = {.compute = DType::kBFloat16};
  fix("devices", "8..16");
  fix("dp", "2..");
  fix("pp", "2..");
  fix("layers", "balanced,even");
  std::size_t close = 0;
  const auto all = points(cluster("2x8xa100-80gb-sxm"), 907);
  EXPECT_GT(all.size(), 50U);
  for (const Priced& priced : all) {
    EXPECT_LE(priced.bound.time, priced.step) << text(priced.point);
    EXPECT_LE(priced.bound.memory, priced.memory) << text(priced.point);
    close += to_seconds(priced.bound.time) > 0.97 * to_seconds(priced.step) ? 1 : 0;
  }
  EXPECT_GT(2 * close, all.size());
}

TEST_F(SearchTest, PlansWhoseBucketsAreTheSameAreTimedOnce) {
  model_ = wide_model();
  const Cluster eight = cluster("1x8xa100-80gb-sxm");
  const Plan common = common_plan(model_, eight, request_);
  const GroupPlaces places(eight);
  CostCache costs(model_, eight, *cost_, common, places);
  WalkJob walk;
  walk.closed_form = {.model = &model_,
                      .cluster = &eight,
                      .cost = cost_.get(),
                      .places = &places,
                      .costs = &costs,
                      .capacity = eight.types.front().memory,
                      .context = eight.types.front().context};
  walk.request = &request_;
  // fp32 gradients of a block are 50 MB, of a stage at most two of them: 150 MB hold any stage.
  const auto leaf = [&](std::int32_t megabytes) {
    PlanPoint point{.tp = 1, .pp = 4, .dp = 2, .micro_batch_size = 2, .micro_batches = 4};
    point.bucket_megabytes = megabytes;
    return Leaf{point, 0, ClosedForm(walk.closed_form).whole(point, Duration::max())};
  };
  const std::vector<Leaf> leaves = {leaf(0), leaf(25), leaf(150), leaf(200)};
  TimedLists timed;
  std::vector<Simulated> alone;
  for (const Leaf& one : leaves) {
    TimedLists nothing;
    alone.push_back(simulate_leaf(walk, common, one, nothing));
    EXPECT_EQ(nothing.size(), 1U);
    EXPECT_EQ(simulate_leaf(walk, common, one, timed), alone.back());
  }
  EXPECT_EQ(timed.size(), 2U);
  EXPECT_EQ(LeafSimulator().run(walk, common, leaves), alone);
}

TEST_F(SearchTest, PruningLosesNothing) {
  fix("schedule", "1f1b,gpipe,interleaved-*,zb-h1");
  fix("zero", "0,1");
  fix("micro-batch", "4");
  fix("bucket", "0");
  fix("layers", "balanced,even");
  fix("devices", "8");
  fix("recompute", "none,full");
  fix("virtual-stages", "1,2");
  for (const char* name : {"1x8xcpu", "2x4xh100-sxm"}) {
    auto all = points(cluster(name));
    std::ranges::stable_sort(all, {}, &Priced::step);
    const auto result = run(name);
    ASSERT_TRUE(result.has_value()) << result.error().to_string();
    ASSERT_EQ(result->plans.size(), 10U);
    EXPECT_EQ(result->plans.front().step_time, all.front().step) << name;
    EXPECT_LT(result->simulated, static_cast<std::int64_t>(all.size()));
    EXPECT_EQ(result->gap, 0);
  }
}

TEST_F(SearchTest, FixedChoicesAreKept) {
  fix("tp", "2");
  fix("pp", "2");
  fix("dp", "2");
  fix("recompute", "full");
  fix("schedule", "gpipe");
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

TEST_F(SearchTest, CountsOfTheSpaceAddUp) {
  request_.keep = 1;
  fix("layers", "balanced,even");
  const auto result = run("2x4xh100-sxm");
  ASSERT_TRUE(result.has_value());
  const SpaceCounts& space = result->space;
  EXPECT_EQ(space.size,
            space.evaluated + space.by_devices + space.by_state + space.by_activations +
                space.by_compute + space.by_pipeline + space.by_exchange + space.duplicates +
                space.without_price + space.left);
}

TEST_F(SearchTest, RejectedPointsSayWhy) {
  request_.global_batch = 6;
  fix("layers", "balanced");
  fix("devices", "8");
  const auto result = run("1x8xcpu");
  ASSERT_TRUE(result.has_value());
  ASSERT_FALSE(result->rejected.empty());
  EXPECT_TRUE(std::ranges::any_of(result->rejected, [](const Rejection& rejection) {
    return rejection.reason == "global batch 6 is not divisible by dp 4";
  }));
}

TEST_F(SearchTest, IsTheSameForAnyNumberOfThreadsAndEveryTime) {
  request_.gap = 0.01;
  request_.most_simulated = 20;
  const DataFiles files = DataFiles::embedded();
  request_.step_prices = StepPrices{find_framework(files, "stagewright").value(),
                                    load_step_constants(files).value(),
                                    load_memory_constants(files).value()};
  std::vector<SearchResult> results;
  for (const std::int32_t threads : {1, 2, 2}) {
    request_.threads = threads;
    results.push_back(run("2x4xh100-sxm").value());
  }
  for (const SearchResult& other : results) {
    EXPECT_EQ(other.plans, results.front().plans);
    EXPECT_EQ(other.estimated, results.front().estimated);
    EXPECT_EQ(other.pareto, results.front().pareto);
    EXPECT_EQ(other.rejected, results.front().rejected);
    EXPECT_EQ(other.space, results.front().space);
    EXPECT_EQ(other.simulated, results.front().simulated);
    EXPECT_EQ(other.gap, results.front().gap);
  }
}

TEST_F(SearchTest, FewerDevicesAndMoreRoomWhereThatIsTheAim) {
  fix("layers", "balanced");
  fix("schedule", "1f1b");
  request_.objective.aim = Aim::kDevices;
  const auto fewest = run("1x8xcpu");
  ASSERT_TRUE(fewest.has_value());
  EXPECT_EQ(fewest->plans.front().point.devices(), 1);
  request_.objective.aim = Aim::kHeadroom;
  const auto roomy = run("1x8xcpu");
  ASSERT_TRUE(roomy.has_value());
  EXPECT_LT(roomy->plans.front().peak_memory, fewest->plans.front().peak_memory);
  request_.objective.aim = Aim::kCost;
  EXPECT_FALSE(run("1x8xcpu").has_value());
  request_.objective.device_hour = 2;
  const auto cheap = run("1x8xcpu");
  ASSERT_TRUE(cheap.has_value());
  EXPECT_LE(static_cast<double>(cheap->plans.front().point.devices()) *
                to_seconds(cheap->plans.front().step_time),
            to_seconds(fewest->plans.front().step_time) * (1 + 1e-9));
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
