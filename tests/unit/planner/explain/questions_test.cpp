// Questions on plans: each answer against a plan or a search of its own.

#include <algorithm>
#include <memory>

#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "planner/explain/memory_fixes.h"
#include "planner/explain/rules_of_thumb.h"
#include "planner/explain/runner_ups.h"
#include "planner/explain/what_if.h"
#include "planner/explain/why_not.h"
#include "planner/plan_job.h"
#include "tests/support/tiny_models.h"
#include "toy_step.h"

namespace stagewright {
namespace {

Cluster cluster_named(const char* name) {
  return find_cluster(DataFiles::embedded(), name).value();
}

ExplainJob job_on(const char* cluster) {
  ExplainJob job{
      .model = tiny_gpt(6), .cluster = cluster_named(cluster), .request = {}, .prices = {}};
  job.request.global_batch = 16;
  job.request.sequence = 8;
  job.request.gap = 0.01;
  job.request.most_simulated = 48;
  job.request.threads = 1;
  job.prices = [](const Cluster&, const Plan&) { return usual_costs(DataFiles::embedded()); };
  return job;
}

/// The planner as everybody else calls it.
Candidate planned(const Cluster& cluster, std::int64_t batch, const char* constraints = "") {
  const PlanJob job{.model = tiny_gpt(6),
                    .cluster = cluster,
                    .global_batch = batch,
                    .sequence = 8,
                    .constraints = constraints,
                    .objective = {},
                    .threads = 1};
  return plan_job(job, DataFiles::embedded()).value().plans.front();
}

TEST(WhatIf, EqualsPlanningAgain) {
  const char* const kName = "2x4xh100-sxm";
  const Cluster here = cluster_named(kName);
  const DeviceType other = find_device(DataFiles::embedded(), "a100-80gb-sxm").value();
  struct Expected {
    Cluster cluster;
    std::int64_t batch = 16;
  };
  std::map<std::string, Expected> expected;
  Cluster wide = here;
  wide.types.front().intra_node.bandwidth =
      BytesPerSecond(2 * here.types.front().intra_node.bandwidth.count());
  expected["bandwidth inside nodes x 2"] = {wide};
  wide = here;
  wide.types.front().inter_node.bandwidth =
      BytesPerSecond(2 * here.types.front().inter_node.bandwidth.count());
  expected["bandwidth between nodes x 2"] = {wide};
  Cluster quick = here;
  quick.types.front().intra_node.latency =
      Duration(here.types.front().intra_node.latency.count() / 10);
  quick.types.front().inter_node.latency =
      Duration(here.types.front().inter_node.latency.count() / 10);
  expected["latency of all links / 10"] = {quick};
  Cluster large = here;
  large.types.front().memory = Bytes(2 * here.types.front().memory.count());
  expected["memory x 2"] = {large};
  expected["batch / 2"] = {here, 8};
  expected["batch x 2"] = {here, 32};
  expected["one more node"] = {cluster_named("3x4xh100-sxm")};
  expected["devices: a100-80gb-sxm"] = {cluster_named("2x4xa100-80gb-sxm")};

  const ExplainJob job = job_on(kName);
  const Plan plan = best_plan(job).value().plan;
  const std::vector<Scenario> scenarios = usual_scenarios(job, {other});
  ASSERT_EQ(scenarios.size(), expected.size());
  for (const Scenario& scenario : scenarios) {
    ASSERT_TRUE(expected.contains(scenario.name)) << scenario.name;
    const Expected& change = expected.at(scenario.name);
    const WhatIf answer = what_if(scenario, plan);
    ASSERT_TRUE(answer.best.has_value()) << scenario.name << ": " << answer.best_reason;
    const Candidate again = planned(change.cluster, change.batch);
    EXPECT_EQ(answer.best->step_time, again.step_time) << scenario.name;
    EXPECT_EQ(answer.best->peak_memory, again.peak_memory) << scenario.name;
    EXPECT_EQ(answer.best->plan.stages, again.plan.stages) << scenario.name;
    EXPECT_EQ(answer.best->point, again.point) << scenario.name;
    if (answer.same && answer.same->summary.fits) {
      EXPECT_LE(to_seconds(answer.best->step_time),
                to_seconds(answer.same->summary.step_time) * (1 + job.request.gap))
          << scenario.name;
    }
  }
}

TEST(WhatIf, LeavesOutWhatTheJobDoesNotHave) {
  ExplainJob job = job_on("1x4xh100-sxm");
  job.request.global_batch = 15;
  for (const Scenario& scenario : usual_scenarios(job)) {
    EXPECT_NE(scenario.name, "bandwidth between nodes x 2");
    EXPECT_NE(scenario.name, "batch / 2");
  }
}

TEST(WhyNot, IsTheBestPlanUnderTheConstraints) {
  const ExplainJob job = job_on("2x4xh100-sxm");
  const auto answer = why_not(job, "tp=4,pp=2");
  ASSERT_TRUE(answer.has_value()) << answer.error().to_string();
  ASSERT_TRUE(answer->plan.has_value());
  const Candidate again = planned(job.cluster, 16, "tp=4 pp=2");
  EXPECT_EQ(answer->plan->summary.step_time, again.step_time);
  EXPECT_EQ(answer->plan->plan.stages, again.plan.stages);
  EXPECT_EQ(answer->asked, "pp=2 tp=4");
}

TEST(WhyNot, SaysWhatStandsInTheWayAndWhatWouldDo) {
  const auto answer = why_not(job_on("2x4xh100-sxm"), "tp=3 pp=2");
  ASSERT_TRUE(answer.has_value());
  ASSERT_TRUE(answer->none.has_value());
  EXPECT_NE(answer->none->message.find("4 attention heads are not divisible by tp 3"),
            std::string::npos)
      << answer->none->message;
  ASSERT_EQ(answer->relaxations.size(), 1U);
  EXPECT_EQ(answer->relaxations.front().given_up, "tp=3");
  EXPECT_EQ(answer->relaxations.front().best.plan.pp(), 2);
}

TEST(WhyNot, RefusesWhatIsNoConstraint) {
  const ExplainJob job = job_on("2x4xh100-sxm");
  EXPECT_EQ(why_not(job, "").error().where, "--why-not");
  EXPECT_EQ(why_not(job, "ttp=8").error().code, ErrorCode::kNotFound);
}

TEST(RunnerUps, DecideOtherwiseAndAreThePlannersOwn) {
  const ExplainJob job = job_on("2x4xh100-sxm");
  const Plan plan = best_plan(job).value().plan;
  const auto others = runner_ups(job, plan);
  ASSERT_TRUE(others.has_value()) << others.error().to_string();
  ASSERT_EQ(others->size(), 6U);
  Duration last{};
  for (const RunnerUp& other : *others) {
    EXPECT_EQ(other.here, decision_of(plan, other.dimension));
    if (!other.plan) {
      EXPECT_FALSE(other.reason.empty());
      continue;
    }
    EXPECT_NE(decision_of(other.plan->plan, other.dimension), other.here);
    EXPECT_GE(other.plan->summary.step_time, last);
    last = other.plan->summary.step_time;
  }
  const auto& tensor = *std::ranges::find(*others, "tp", &RunnerUp::dimension);
  ASSERT_TRUE(tensor.plan.has_value());
  Duration best = Duration::max();
  for (const char* degree : {"tp=1", "tp=2", "tp=4"}) {
    if (degree != "tp=" + tensor.here) {
      best = std::min(best, planned(job.cluster, 16, degree).step_time);
    }
  }
  EXPECT_LE(to_seconds(tensor.plan->summary.step_time), to_seconds(best) * 1.01);
}

/// A plan whose state alone is more than the device has.
struct TooLarge {
  ToyModel model{.sequence = 8};
  ExplainJob job;
  PricedPlan priced;

  TooLarge(double share, const ToyDegrees& degrees, std::int32_t devices)
      : job(toy_job(
            model,
            toy_cluster({.devices = devices,
                         .memory = static_cast<std::int64_t>(share * 16 * model.parameters())}))),
        priced(price_plan(job, toy_plan(model, degrees)).value()) {
    job.request.global_batch = std::int64_t{degrees.dp} * degrees.micro_batches;
    job.request.threads = 1;
  }
};

TEST(Memory, StateAloneDoesNotFit) {
  const TooLarge large(0.5, {.dp = 2}, 2);
  EXPECT_FALSE(large.priced.summary.fits);
  const RankMemory& rank = large.priced.fullest();
  double state = 0;
  for (const TensorClass part :
       {TensorClass::kParameter, TensorClass::kGradient, TensorClass::kOptimizer}) {
    state += static_cast<double>(rank.at_peak[static_cast<std::size_t>(part)].count());
  }
  // fp32: weights, gradients, two moments.
  EXPECT_NEAR(state / (16 * large.model.parameters()), 1, 0.01);
  EXPECT_NEAR(state / static_cast<double>(rank.total.count()), 1, 0.03);
  EXPECT_EQ(total_of(rank.at_peak) + rank.context, rank.total);
}

TEST(MemoryFixes, AreSimulatedAndWhatFitsComesFirst) {
  const TooLarge large(0.6, {.dp = 4, .micro_batches = 2}, 4);
  const auto fixes = memory_fixes(large.job, large.priced);
  ASSERT_FALSE(fixes.empty());
  EXPECT_TRUE(fixes.front().outcome && fixes.front().outcome->fits);
  bool after_fitting = false;
  Duration last{};
  for (const MemoryFix& fix : fixes) {
    if (!fix.outcome) {
      EXPECT_FALSE(fix.reason.empty());
      continue;
    }
    const auto again = price_plan(large.job, fix.plan);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->summary.peak_memory, fix.outcome->peak) << fix.change;
    EXPECT_EQ(again->summary.step_time, fix.outcome->step_time) << fix.change;
    EXPECT_EQ(fix.outcome->fits, fix.outcome->peak <= large.job.cluster.types.front().memory)
        << fix.change;
    EXPECT_FALSE(fix.outcome->fits && after_fitting) << fix.change;
    after_fitting = after_fitting || !fix.outcome->fits;
    if (fix.outcome->fits) {
      EXPECT_GE(fix.outcome->step_time, last);
      last = fix.outcome->step_time;
    }
  }
  // Moments divided by four leave 4 + 4 + 8 / 4 bytes a parameter: 0.625 of 16.
  const auto sharded = std::ranges::find(fixes, "ZeRO 1", &MemoryFix::change);
  ASSERT_NE(sharded, fixes.end());
  EXPECT_FALSE(sharded->outcome->fits);
  const auto doubled = std::ranges::find_if(
      fixes, [](const MemoryFix& fix) { return fix.change.starts_with("tp 2"); });
  ASSERT_NE(doubled, fixes.end());
  EXPECT_TRUE(doubled->outcome->fits);
}

TEST(MemoryFixes, KeepWhatTheUserHasFixed) {
  TooLarge large(0.6, {.dp = 4, .micro_batches = 2}, 4);
  for (const char* name : {"zero", "tp", "pp"}) {
    ASSERT_TRUE(
        constrain(large.job.request.constraints, name, name == std::string("zero") ? "0" : "1")
            .has_value());
  }
  for (const MemoryFix& fix : memory_fixes(large.job, large.priced)) {
    EXPECT_EQ(fix.plan.zero_stage, 0) << fix.change;
    EXPECT_EQ(fix.plan.uniform_tp(), 1) << fix.change;
    EXPECT_EQ(fix.plan.pp(), 1) << fix.change;
  }
}

const RuleOfThumb& rule_about(const std::vector<RuleOfThumb>& rules, std::string_view word) {
  return *std::ranges::find_if(
      rules, [&](const RuleOfThumb& rule) { return rule.rule.find(word) != std::string::npos; });
}

std::vector<RuleOfThumb> rules_of(const ToyMachine& machine, const Plan& plan) {
  const ExplainJob job = toy_job({}, toy_cluster(machine));
  return rules_of_thumb(job, price_plan(job, plan).value());
}

TEST(RulesOfThumb, AreKeptByABalancedPlan) {
  const auto rules = rules_of({.devices = 4}, toy_plan({}, {.tp = 2, .pp = 2, .micro_batches = 8}));
  ASSERT_EQ(rules.size(), 6U);
  for (const RuleOfThumb& rule : rules) {
    EXPECT_EQ(rule.verdict, Verdict::kKept) << rule.rule << ": " << rule.figures;
  }
}

TEST(RulesOfThumb, AreBrokenWhereTheyShould) {
  const auto across = rules_of({.nodes = 2, .devices = 2}, toy_plan({}, {.tp = 4}));
  EXPECT_EQ(rule_about(across, "tensor").verdict, Verdict::kBroken);
  EXPECT_EQ(rule_about(across, "stages take").verdict, Verdict::kNoMatter);

  const auto few = rules_of({.devices = 4}, toy_plan({}, {.pp = 4, .micro_batches = 2}));
  EXPECT_EQ(rule_about(few, "micro-batches are at least").verdict, Verdict::kBroken);
  EXPECT_GT(rule_about(few, "micro-batches are at least").at_stake, 0);
  EXPECT_EQ(rule_about(few, "4 to 8").verdict, Verdict::kBroken);
  EXPECT_EQ(rule_about(few, "80 %").verdict, Verdict::kBroken);

  Plan uneven = toy_plan({}, {.pp = 2, .micro_batches = 8});
  uneven.stages[0].layers -= 2;
  uneven.stages[1].first_layer -= 2;
  uneven.stages[1].layers += 2;
  EXPECT_EQ(rule_about(rules_of({.devices = 2}, uneven), "stages take").verdict, Verdict::kBroken);

  const TooLarge large(0.5, {.dp = 2}, 2);
  EXPECT_EQ(rule_about(rules_of_thumb(large.job, large.priced), "memory").verdict,
            Verdict::kBroken);
}

}  // namespace
}  // namespace stagewright
