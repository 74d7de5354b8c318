#include "sim/engine/perturbation.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "event_graph_maker.h"
#include "sim/engine/clock_check.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;
using test::EventGraphMaker;

std::vector<Duration> perturbed(const EventGraph& graph,
                                const Perturbation& perturbation,
                                const SampleId& sample = {}) {
  std::vector<Duration> alone(graph.nodes());
  perturb(graph, perturbation, sample, alone);
  return alone;
}

/// Computation of 10 ms on each of three ranks and a message of 4 ms.
EventGraph three_ranks() {
  EventGraphMaker maker({0, 1, 2});
  for (const std::int32_t rank : {0, 1, 2}) {
    maker.compute(rank, 10ms);
  }
  maker.flow(maker.graph.network.add_route(BytesPerSecond(1), {}, {}, {}), 4ms);
  return maker.graph;
}

TEST(Perturbation, NoneLeavesTheTimesAsTheyAre) {
  const EventGraph graph = three_ranks();
  EXPECT_EQ(perturbed(graph, {}), graph.alone);
}

TEST(Perturbation, AStragglerComputesLongerAndNobodyElse) {
  EXPECT_EQ(perturbed(three_ranks(), {.stragglers = {{RankId(1), 1.2}}}),
            (std::vector<Duration>{10ms, 12ms, 10ms, 4ms}));
}

TEST(Perturbation, OverheadComesOncePerActionAndNotToMessages) {
  EventGraph graph = three_ranks();
  graph.first[2] = 0;  // belongs to the action before
  EXPECT_EQ(perturbed(graph, {.action_overhead = 5us}),
            (std::vector<Duration>{Duration(10005us), Duration(10005us), 10ms, 4ms}));
}

TEST(Perturbation, NoiseDependsOnSeedSampleAndActionAlone) {
  const double noise = standard_noise({.seed = 7, .sample = 3}, 42);
  EXPECT_EQ(standard_noise({.seed = 7, .sample = 3}, 42), noise);
  EXPECT_NE(standard_noise({.seed = 8, .sample = 3}, 42), noise);
  EXPECT_NE(standard_noise({.seed = 7, .sample = 4}, 42), noise);
  EXPECT_NE(standard_noise({.seed = 7, .sample = 3}, 43), noise);
}

// 10^5 numbers of mean 0 and deviation 1: their mean has a deviation of 0.0032, that of their
// squares is below 0.0045.  Five deviations are allowed.
TEST(Perturbation, NoiseHasMeanZeroAndDeviationOne) {
  constexpr int kCount = 100'000;
  double sum = 0;
  double squares = 0;
  double neighbours = 0;
  double before = 0;
  for (int action = 0; action < kCount; ++action) {
    const double noise = standard_noise({.seed = 1, .sample = 0}, action);
    EXPECT_LT(std::abs(noise), 3.47);
    sum += noise;
    squares += noise * noise;
    neighbours += noise * before;
    before = noise;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.016);
  EXPECT_NEAR(squares / kCount, 1, 0.023);
  EXPECT_NEAR(neighbours / kCount, 0, 0.016);
}

// The same action of successive samples and of successive seeds.
TEST(Perturbation, NoiseOfSamplesAndSeedsIsIndependent) {
  constexpr int kCount = 100'000;
  double by_sample = 0;
  double by_seed = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    by_sample += standard_noise({.seed = 1, .sample = i}, 5) *
                 standard_noise({.seed = 1, .sample = i + 1}, 5);
    by_seed += standard_noise({.seed = i, .sample = 0}, 5) *
               standard_noise({.seed = i + 1, .sample = 0}, 5);
  }
  EXPECT_NEAR(by_sample / kCount, 0, 0.016);
  EXPECT_NEAR(by_seed / kCount, 0, 0.016);
}

// Nodes of one action are faster or slower together.
TEST(Perturbation, JitterIsOneFactorPerAction) {
  EventGraph graph = three_ranks();
  graph.action[1] = graph.action[0];
  const double noise = standard_noise({}, graph.action[0]);
  const std::vector<Duration> times = perturbed(graph, {.jitter = 0.05});
  EXPECT_EQ(times[0], times[1]);
  EXPECT_NE(times[0], times[2]);
  EXPECT_NEAR(to_seconds(times[0]), 0.010 * (1 + 0.05 * noise), 1e-12);
}

TEST(Perturbation, AStepThatTheClockCannotCountIsRefused) {
  const EventGraph graph = three_ranks();
  EXPECT_TRUE(check_clock(graph, {.stragglers = {{RankId(1), 1.2}}, .jitter = kMostJitter}, 2));
  const Perturbation slow{.stragglers = {{RankId(1), 1e300}}};
  const Perturbation heavy{.action_overhead = from_seconds(2e6)};
  const Perturbation both{.stragglers = slow.stragglers, .action_overhead = heavy.action_overhead};
  for (const auto& [perturbation, blamed] :
       {std::pair{Perturbation{.stragglers = {{RankId(1), 1e9}}}, "--straggler"},
        std::pair{slow, "--straggler"},
        std::pair{heavy, "--action-overhead"},
        std::pair{both, "--straggler, --action-overhead, --compute-slowdown"}}) {
    const auto fits = check_clock(graph, perturbation, 1);
    ASSERT_FALSE(fits);
    EXPECT_EQ(fits.error().code, ErrorCode::kUnsupported);
    EXPECT_EQ(fits.error().where, blamed);
  }
}

}  // namespace
}  // namespace stagewright
