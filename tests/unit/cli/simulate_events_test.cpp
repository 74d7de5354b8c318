#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli_runner.h"

namespace stagewright {
namespace {

CliResult simulate(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "simulate");
  return run_stagewright(arguments);
}

nlohmann::json simulated(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  const CliResult result = simulate(std::move(arguments));
  EXPECT_EQ(result.code, ExitCode::kSuccess) << result.err;
  return nlohmann::json::parse(result.out, nullptr, false);
}

std::vector<std::string> one_f_one_b(std::vector<std::string> more = {}) {
  std::vector<std::string> all{
      "--schedule=1f1b", "--ranks=4", "--chunks=8", "--costs=F=1,B=2", "--transfer=0.1"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<std::string> llama(std::vector<std::string> more) {
  more.insert(more.begin(), example("llama3-70b-128xh100.plan.json"));
  return more;
}

TEST(SimulateEvents, FreeLinksGiveTheMakespanOfTheStaticPass) {
  const auto json = simulated(one_f_one_b({"--engine=event"}));
  EXPECT_EQ(json.at("event").at("step_time"), json.at("makespan"));
  EXPECT_EQ(json.at("event").at("links"), nlohmann::json::array());
  EXPECT_EQ(json.at("event").at("busy"), std::vector<double>(4, 24));
}

TEST(SimulateEvents, SaysNothingUnlessAsked) {
  const auto json = simulated(one_f_one_b());
  EXPECT_FALSE(json.contains("event"));
  EXPECT_FALSE(json.contains("monte_carlo"));
  EXPECT_FALSE(json.contains("goodput"));
}

// One stage: 8 forwards and backwards of 3, by the straggler in 1.5 times as long.
TEST(SimulateEvents, AStragglerTakesItsFactor) {
  const auto json = simulated({"--schedule=1f1b",
                               "--ranks=1",
                               "--chunks=8",
                               "--costs=F=1,B=2",
                               "--straggler=0=1.5",
                               "--action-overhead=0.25"});
  EXPECT_DOUBLE_EQ(json.at("event").at("step_time").get<double>(), 8 * 3 * 1.5 + 16 * 0.25);
}

// Two stages of one micro-batch: each message of 0.1 meets no computation.  With two, the first
// rank computes its second forward while it sends.
TEST(SimulateEvents, CommunicationSlowsComputationWhereAsked) {
  const std::vector<std::string> gpipe{
      "--schedule=gpipe", "--ranks=2", "--chunks=2", "--costs=F=1,B=1", "--transfer=0.5"};
  const auto step = [&gpipe](const std::string& slowdown) {
    std::vector<std::string> call = gpipe;
    call.push_back("--compute-slowdown=" + slowdown);
    return simulated(call).at("event").at("step_time").get<double>();
  };
  EXPECT_DOUBLE_EQ(step("1"), simulated(gpipe).at("makespan").get<double>());
  EXPECT_GT(step("1.1"), step("1"));
  EXPECT_GT(step("calibrated"), step("1.1"));
}

TEST(SimulateEvents, OneSeedGivesTheSameSamplesOnAnyThreads) {
  const std::vector<std::string> jitter{
      "--jitter=5%", "--samples=50", "--seed=7", "--shared-ports", "--threads=1"};
  std::vector<std::string> two_threads = jitter;
  two_threads.back() = "--threads=2";
  const auto one = simulated(one_f_one_b(jitter)).at("monte_carlo");
  EXPECT_EQ(simulated(one_f_one_b(two_threads)).at("monte_carlo"), one);
  EXPECT_EQ(one.at("samples"), 50);
  EXPECT_EQ(one.at("jitter"), 0.05);
  EXPECT_LE(one.at("least"), one.at("p50"));
  EXPECT_LE(one.at("p50"), one.at("p95"));
  EXPECT_LE(one.at("p95"), one.at("p99"));
  EXPECT_LE(one.at("p99"), one.at("most"));
}

TEST(SimulateEvents, PlansAreSimulatedOnTheLinksOfTheirCluster) {
  const auto json = simulated({example("gpt-demo-uneven.plan.json"),
                               "--model=" + example("models/gpt-demo.json"),
                               "--engine=event",
                               "--action-overhead=1ms"});
  EXPECT_GT(json.at("event").at("step_time_s").get<double>(),
            json.at("step_time_s").get<double>() + 0.008);
  EXPECT_EQ(json.at("event").at("busy_s").size(), 2U);
}

TEST(SimulateEvents, GoodputIsReportedForPlans) {
  const auto json = simulated(llama(
      {"--node-mtbf=100h", "--checkpoint-time=30s", "--restart-time=5min", "--failures=1000"}));
  const auto& goodput = json.at("goodput");
  // 16 nodes: a failure every 6.25 h.
  EXPECT_NEAR(goodput.at("failures_per_day").get<double>(), 24 / 6.25, 1e-9);
  EXPECT_GT(goodput.at("goodput").get<double>(), 0.9);
  EXPECT_NEAR(json.at("simulated_goodput").at("goodput").get<double>(),
              goodput.at("goodput").get<double>(),
              0.02);
}

// Nodes last for months: 16384 GPUs that fail 419 times in 54 days (2048 nodes) are 264 days each.
TEST(SimulateEvents, NodesThatLastForMonthsAreCounted) {
  const auto json = simulated(llama({"--node-mtbf=264d", "--checkpoint-time=30s"}));
  EXPECT_NEAR(json.at("goodput").at("failures_per_day").get<double>(), 16 / 264.0, 1e-9);
  const CliResult text = simulate(llama({"--mtbf=5h", "--checkpoint-time=30s"}));
  EXPECT_NE(text.out.find("a failure every 5 h, a checkpoint every "), std::string::npos)
      << text.out;
}

TEST(SimulateEvents, TextSaysTheSame) {
  const CliResult result =
      simulate(one_f_one_b({"--shared-ports", "--jitter=0.05", "--samples=20"}));
  ASSERT_EQ(result.code, ExitCode::kSuccess) << result.err;
  EXPECT_NE(result.out.find("\nevent engine: step "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("\n20 steps with a jitter of 5.0 %, seed 1: mean "), std::string::npos)
      << result.out;
}

TEST(SimulateEvents, WhatCannotBeIsNamed) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--straggler=4=1.2"},
       "--straggler: '4=1.2' is no RANK=FACTOR with a rank from 0 to 3; for example 0=1.2"},
      {{"--jitter=30%"}, "--jitter: '30%' is no share from 0 to 25%; for example 5%"},
      {{"--action-overhead=5us"},
       "--action-overhead: '5us' is no number of 0 or more, in the unit of --costs"},
      {{"--compute-slowdown=0.5"},
       "--compute-slowdown: '0.5' is no number from 1 to 100; for example 1.1, or calibrated"},
      {{"--straggler=1=1.2", "--straggler=1=2"},
       "--straggler: '1=2' gives rank 1 another factor; give each rank one"},
      {{"--engine=static", "--jitter=5%"},
       "--engine: the static pass knows nothing of --jitter; leave one of the two out, or take "
       "--engine=event"},
      {{"--engine=static", "--shared-ports"},
       "--engine: the static pass knows nothing of --shared-ports; leave one"},
      {{"--engine=static", "--event-trace=x.json"},
       "--engine: the static pass knows nothing of --event-trace; leave one"},
      {{"--mtbf=5h"}, "--mtbf: a bare schedule's costs have no unit of time; give a plan"},
      {{"--restart-time=5min"},
       "checkpoints and restarts need to know how often the run fails; give --mtbf or "
       "--node-mtbf"}};
  for (const auto& [option, message] : cases) {
    const CliResult result = simulate(one_f_one_b(option));
    EXPECT_EQ(result.code, ExitCode::kInvalidInput) << option.front();
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
  }
}

TEST(SimulateEvents, OptionsWithoutEffectAreRefused) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--samples=10"}, "--samples requires --jitter"},
      {{"--seed=2"}, "--seed requires --jitter"},
      {{"--threads=1"}, "--threads requires --jitter"},
      {{"--width=80"}, "--width requires --timeline"},
      {{"--mtbf=5h", "--spare-nodes=2"}, "--spare-nodes requires --repair-time"},
      {{"--jitter=5%", "--samples=0"}, "'0' is not a whole number from 1 to 10000000"},
      {{"--jitter=5%", "--threads=2000000000"},
       "'2000000000' is not a whole number from 1 to 1024"},
      {{"--jitter", ""}, "the value is empty"},
      {{"--action-overhead", ""}, "the value is empty"},
      {{"--compute-slowdown", ""}, "the value is empty"}};
  for (const auto& [option, message] : cases) {
    const CliResult result = simulate(one_f_one_b(option));
    EXPECT_EQ(result.code, ExitCode::kUsage) << option.front();
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
  }
  const CliResult alone = simulate(llama({"--all-ranks"}));
  EXPECT_EQ(alone.code, ExitCode::kUsage);
  EXPECT_NE(alone.err.find("One of --trace, --svg and --timeline, for --all-ranks"),
            std::string::npos)
      << alone.err;
}

TEST(SimulateEvents, NoJitterGivesSamplesThatAreAllAlike) {
  const auto json = simulated(one_f_one_b({"--jitter=0", "--samples=3"}));
  EXPECT_EQ(json.at("monte_carlo").at("samples"), 3);
  EXPECT_EQ(json.at("monte_carlo").at("least"), json.at("makespan"));
  EXPECT_EQ(json.at("monte_carlo").at("most"), json.at("makespan"));
}

}  // namespace
}  // namespace stagewright
