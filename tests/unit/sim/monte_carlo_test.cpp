#include "sim/engine/monte_carlo.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "event_graph_maker.h"
#include "sim/engine/order_events.h"
#include "tests/support/pipeline_orders.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;

EventGraph one_f_one_b(OrderLinks links) {
  constexpr std::size_t kRanks = 4;
  const PipelineCosts costs{.forward = std::vector<Duration>(kRanks, 100us),
                            .backward = std::vector<Duration>(kRanks, 200us),
                            .transfer = std::vector<Duration>(kRanks, 60us)};
  return order_events(test::one_forward_one_backward(kRanks, 16), costs, {.links = links}).value();
}

MonteCarloOptions options_for(std::int32_t samples, double jitter) {
  MonteCarloOptions options;
  options.samples = samples;
  options.perturbation.jitter = jitter;
  return options;
}

TEST(MonteCarlo, OneAndTwoThreadsGiveTheSameSamples) {
  for (const OrderLinks links : {OrderLinks::kFree, OrderLinks::kPorts}) {
    const EventGraph graph = one_f_one_b(links);
    MonteCarloOptions options = options_for(200, 0.05);
    options.threads = 1;
    const StepSamples one = sample_steps(graph, options);
    options.threads = 2;
    EXPECT_EQ(sample_steps(graph, options), one);
    EXPECT_EQ(sample_steps(graph, options), one);
  }
}

TEST(MonteCarlo, AnotherSeedGivesOtherSamples) {
  const EventGraph graph = one_f_one_b(OrderLinks::kFree);
  MonteCarloOptions options = options_for(50, 0.05);
  const StepSamples one = sample_steps(graph, options);
  options.seed = 2;
  EXPECT_NE(sample_steps(graph, options), one);
}

TEST(MonteCarlo, FewerSamplesAreThoseThatMoreBeginWith) {
  const EventGraph graph = one_f_one_b(OrderLinks::kFree);
  const StepSamples few = sample_steps(graph, options_for(10, 0.05));
  std::vector<Duration> many = sample_steps(graph, options_for(40, 0.05)).times;
  many.resize(10);
  EXPECT_EQ(few.times, many);
}

TEST(MonteCarlo, WithoutJitterEverySampleIsTheStep) {
  for (const OrderLinks links : {OrderLinks::kFree, OrderLinks::kPorts}) {
    const EventGraph graph = one_f_one_b(links);
    const Duration step = EventEngine(graph).run(graph.alone).makespan;
    const StepSamples samples = sample_steps(graph, options_for(3, 0));
    EXPECT_EQ(samples.times, std::vector<Duration>(3, step));
    EXPECT_EQ(samples.mean, step);
  }
}

// The pass over the graph and the event engine take the same samples where nothing contends: with
// ports, but messages that never meet.
TEST(MonteCarlo, BothWaysToASampleAgree) {
  const PipelineCosts costs{.forward = {100us, 130us, 90us}, .transfer = {10us, 10us, 10us}};
  const PipelineOrder order = test::forward_only(3, 20);
  const EventGraph free = order_events(order, costs).value();
  const EventGraph ports = order_events(order, costs, {.links = OrderLinks::kPorts}).value();
  EXPECT_FALSE(may_contend(free));
  EXPECT_TRUE(may_contend(ports));
  EXPECT_EQ(sample_steps(free, options_for(100, 0.1)), sample_steps(ports, options_for(100, 0.1)));
}

// A chain of n actions of time t: mean n t, deviation j t sqrt(n), nearly normal: p95 lies 1.645,
// p99 2.326 deviations above.  Of 10^4 samples the mean is known to 0.01 deviations, p95 to 0.021,
// p99 to 0.037; five times as much is allowed.
TEST(MonteCarlo, QuantilesOfAChainAreThoseOfASumOfIndependentTimes) {
  constexpr int kLength = 64;
  constexpr double kJitter = 0.1;
  test::EventGraphMaker maker({0});
  std::vector<NodeIndex> last;
  for (int i = 0; i < kLength; ++i) {
    last = {maker.compute(0, 1ms, last)};
  }
  maker.run();
  const StepSamples samples = sample_steps(maker.graph, options_for(10'000, kJitter));
  const double mean = kLength * 1e-3;
  const double deviation = kJitter * 1e-3 * std::sqrt(kLength);
  EXPECT_NEAR((to_seconds(samples.mean) - mean) / deviation, 0, 0.05);
  EXPECT_NEAR((to_seconds(samples.p50) - mean) / deviation, 0, 0.065);
  EXPECT_NEAR((to_seconds(samples.p95) - mean) / deviation, 1.645, 0.11);
  EXPECT_NEAR((to_seconds(samples.p99) - mean) / deviation, 2.326, 0.19);
}

// The larger of two is the slower on average: the mean of a step grows with jitter.
TEST(MonteCarlo, JitterLengthensTheMeanStepOfAPipeline) {
  const EventGraph graph = one_f_one_b(OrderLinks::kFree);
  const Duration calm = sample_steps(graph, options_for(1, 0)).mean;
  const Duration little = sample_steps(graph, options_for(400, 0.05)).mean;
  const Duration much = sample_steps(graph, options_for(400, 0.15)).mean;
  EXPECT_LT(calm, little);
  EXPECT_LT(little, much);
}

TEST(MonteCarlo, StatisticsAreNearestRanks) {
  std::vector<Duration> times;
  for (int i = 100; i > 0; --i) {
    times.emplace_back(i);
  }
  const StepSamples statistics = statistics_of(times);
  EXPECT_EQ(statistics.p50, Duration(50));
  EXPECT_EQ(statistics.p95, Duration(95));
  EXPECT_EQ(statistics.p99, Duration(99));
  EXPECT_EQ(statistics.mean, Duration(51));  // 50.5, rounded away from zero
  EXPECT_EQ(statistics.times, times);
  EXPECT_EQ(statistics_of({Duration(7)}).p99, Duration(7));
}

}  // namespace
}  // namespace stagewright
