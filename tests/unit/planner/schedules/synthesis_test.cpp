#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "planner/schedules/registry.h"
#include "planner/schedules/stage_layout.h"
#include "planner/schedules/synthesis/lower_bound.h"
#include "planner/schedules/synthesis/order_clock.h"
#include "planner/schedules/synthesis/starts.h"
#include "planner/schedules/synthesis/synthesize.h"
#include "sim/analysis/order_check.h"
#include "tests/support/program_text.h"

namespace stagewright {
namespace {

PipelineCosts uniform(std::int32_t stages, const UniformCosts& costs) {
  PipelineCosts all = costs_per_stage(costs, stages);
  if (costs.recompute == Duration{}) {
    all.recompute.clear();
  }
  return all;
}

/// F = I = W = 10, B = 20.
SynthesisRequest even_request(std::int32_t ranks,
                              std::int32_t virtual_stages,
                              std::int32_t micro_batches) {
  const PipelineShape shape{
      .ranks = ranks, .virtual_stages = virtual_stages, .micro_batches = micro_batches};
  return {.shape = shape,
          .costs = uniform(shape.stages(),
                           {.forward = Duration(10),
                            .backward = Duration(20),
                            .backward_input = Duration(10),
                            .backward_weight = Duration(10)}),
          .effort = 2};
}

std::vector<std::string> texts_of(const PipelineOrder& order) {
  std::vector<std::string> texts;
  for (const auto& rank : order.ranks) {
    texts.push_back(text_of(rank));
  }
  return texts;
}

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  std::int32_t between(std::int32_t low, std::int32_t high) {
    return std::uniform_int_distribution<std::int32_t>(low, high)(engine_);
  }
  std::vector<Duration> durations(std::int32_t count, std::int32_t low, std::int32_t high) {
    std::vector<Duration> all;
    for (std::int32_t i = 0; i < count; ++i) {
      all.emplace_back(between(low, high));
    }
    return all;
  }

 private:
  std::mt19937 engine_;
};

SynthesisRequest random_request(Dice& dice) {
  SynthesisRequest request{.shape = {.ranks = dice.between(1, 5),
                                     .virtual_stages = dice.between(1, 3),
                                     .micro_batches = dice.between(1, 10)},
                           .effort = 1};
  const std::int32_t stages = request.shape.stages();
  request.costs = {.forward = dice.durations(stages, 1, 100),
                   .backward = dice.durations(stages, 1, 200),
                   .backward_input = dice.durations(stages, 1, 100),
                   .backward_weight = dice.durations(stages, 1, 100),
                   .recompute = dice.durations(stages, 0, dice.between(0, 1) * 50),
                   .transfer = dice.durations(stages, 0, 30)};
  for (std::int32_t rank = 0; rank < request.shape.ranks; ++rank) {
    request.memory_cap.push_back(dice.between(request.shape.virtual_stages, 2 * stages));
  }
  request.objective =
      dice.between(0, 1) == 0 ? SynthesisObjective::kMakespan : SynthesisObjective::kSpan;
  return request;
}

Duration objective_of(const OrderCheck& check, SynthesisObjective objective) {
  return objective == SynthesisObjective::kMakespan
             ? check.timing.makespan
             : *std::max_element(check.timing.spans.begin(), check.timing.spans.end());
}

/// The fastest named schedule within the caps, by the checks that know nothing of synthesis.
std::optional<Duration> best_named(const SynthesisRequest& request) {
  std::optional<Duration> best;
  for (const ScheduleGenerator& generator : schedule_generators()) {
    if (generator.asynchronous || generator.synthesised) {
      continue;
    }
    const Result<PipelineOrder> order = generator.generate(request.shape);
    if (!order || order->placement.size() > 1) {
      continue;
    }
    const OrderCheck check = check_order(token_list(*order), request.costs);
    bool fits = !check.fault;
    for (std::size_t rank = 0; fits && rank < request.memory_cap.size(); ++rank) {
      fits = check.peaks.to_weight[rank] <= request.memory_cap[rank];
    }
    if (fits) {
      const Duration time = objective_of(check, request.objective);
      best = std::min(time, best.value_or(time));
    }
  }
  return best;
}

TEST(Synthesis, OfRandomRequestsIsValidWithinItsCapsAndNoWorseThanAnyNamedSchedule) {
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Dice dice(seed);
  for (int i = 0; i < 60; ++i) {
    const SynthesisRequest request = random_request(dice);
    SCOPED_TRACE(fmt::format("P {} V {} M {}",
                             request.shape.ranks,
                             request.shape.virtual_stages,
                             request.shape.micro_batches));
    const Result<Synthesis> synthesis = synthesize(request);
    ASSERT_TRUE(synthesis) << synthesis.error().to_string();
    const OrderCheck check = check_order(token_list(synthesis->order), request.costs);
    ASSERT_FALSE(check.fault) << check.fault->to_string();
    for (std::size_t rank = 0; rank < request.memory_cap.size(); ++rank) {
      EXPECT_LE(check.peaks.to_weight[rank], request.memory_cap[rank]);
    }
    EXPECT_GE(synthesis->time, synthesis->lower_bound);
    if (std::all_of(request.costs.recompute.begin(),
                    request.costs.recompute.end(),
                    [](Duration cost) { return cost == Duration{}; })) {
      EXPECT_EQ(objective_of(check, request.objective), synthesis->time);
      if (const auto named = best_named(request)) {
        EXPECT_LE(synthesis->time, *named);
      }
    }
  }
}

TEST(Synthesis, GivesTheSameOrderForTheSameRequest) {
  SynthesisRequest request = even_request(4, 2, 8);
  request.costs.transfer.assign(8, Duration(1));
  request.memory_cap.assign(4, 6);
  EXPECT_EQ(synthesize(request)->order, synthesize(request)->order);
}

// One rank has nothing to wait for: 3 micro-batches of 10 + 20.
TEST(Synthesis, OfOneRankTakesItsWork) {
  SynthesisRequest request = even_request(1, 1, 3);
  request.memory_cap = {1};
  const Result<Synthesis> synthesis = synthesize(request);
  EXPECT_EQ(synthesis->time, Duration(90));
  EXPECT_EQ(texts_of(synthesis->order), (std::vector<std::string>{"0F0 0B0 0F1 0B1 0F2 0B2"}));
}

// The last rank starts after P - 1 forwards and works 3M units: the bubble of ZB-H1 with F = I = W.
TEST(Synthesis, ReachesTheLowerBoundAtTheMemoryOfZeroBubble) {
  SynthesisRequest request = even_request(4, 1, 8);
  request.memory_cap.assign(4, 4);
  const Result<Synthesis> synthesis = synthesize(request);
  EXPECT_EQ(synthesis->time, Duration(270));
  EXPECT_EQ(synthesis->lower_bound, Duration(270));
}

TEST(Synthesis, WithoutAFlushHasNoBubble) {
  SynthesisRequest request = even_request(4, 2, 12);
  request.objective = SynthesisObjective::kSpan;
  request.memory_cap.assign(4, 8);
  const Result<Synthesis> synthesis = synthesize(request);
  EXPECT_EQ(synthesis->time, Duration(12 * 60));
}

TEST(Synthesis, TakesWholeBackwardsWhereTheyAreCheaper) {
  SynthesisRequest request = even_request(1, 1, 2);
  request.costs.backward = {Duration(12)};
  const Result<Synthesis> synthesis = synthesize(request);
  EXPECT_EQ(synthesis->time, Duration(2 * 10 + 2 * 12));
}

TEST(Synthesis, PutsEachRecomputationRightBeforeItsBackward) {
  SynthesisRequest request = even_request(2, 1, 2);
  request.costs.recompute = {Duration(0), Duration(10)};
  request.memory_cap = {2, 1};
  EXPECT_EQ(texts_of(synthesize(request)->order)[1], "1F0 1R0 1I0 1W0 1F1 1R1 1I1 1W1");
}

TEST(Synthesis, CountsOnlyTheCheckpointUntilTheRecomputation) {
  SynthesisRequest request = even_request(2, 1, 4);
  request.costs.recompute.assign(2, Duration(10));
  request.held.assign(2, 10);
  request.memory_cap = {12, 12};
  const Duration all_held = synthesize(request)->time;
  request.checkpoint.assign(2, 1);
  EXPECT_LT(synthesize(request)->time, all_held);
}

// Between its halves a backward holds 6 more; a cap of 10 leaves no room for that.
TEST(Synthesis, KeepsBackwardsWholeWhereTheirHalvesHoldTooMuch) {
  SynthesisRequest request = even_request(2, 1, 3);
  request.held.assign(2, 5);
  request.pending.assign(2, 6);
  request.memory_cap = {10, 10};
  for (const std::string& rank : texts_of(synthesize(request)->order)) {
    EXPECT_EQ(rank.find('I'), std::string::npos) << rank;
  }
  request.memory_cap = {22, 22};
  EXPECT_LE(synthesize(request)->time, Duration(100));
}

TEST(Synthesis, SaysWhichCapIsTooSmall) {
  SynthesisRequest request = even_request(2, 2, 4);
  request.memory_cap = {2, 1};
  const Result<Synthesis> synthesis = synthesize(request);
  ASSERT_FALSE(synthesis);
  EXPECT_EQ(synthesis.error().to_string(),
            "plan:/schedule_parameters/cap: a single micro-batch does not fit: rank 1 may hold 1 "
            "and needs "
            "2 or more");
}

TEST(Synthesis, SaysWhichSizesOfItsInputAreWrong) {
  SynthesisRequest request = even_request(2, 1, 4);
  request.memory_cap = {2};
  EXPECT_EQ(
      synthesize(request).error().to_string(),
      "plan:/schedule_parameters/cap: there are 1 memory caps for 2 ranks; give one for each");
  request = even_request(2, 1, 4);
  request.costs.forward.pop_back();
  EXPECT_EQ(synthesize(request).error().to_string(),
            "costs: synthesis needs costs F, I and W of each of the 2 stages, and all or none of "
            "the others");
}

TEST(OrderClock, GivesTheTimesOfTheGeneralCheck) {
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Dice dice(seed);
  for (int i = 0; i < 40; ++i) {
    SynthesisRequest request = random_request(dice);
    request.costs.recompute.clear();
    const synthesis::StepTable table =
        synthesis::make_step_table(request, looped_layout(request.shape));
    synthesis::StepTable unlimited = table;
    unlimited.caps.assign(table.caps.size(), 1'000'000);
    synthesis::OrderClock clock(unlimited);
    for (const synthesis::StartOrder& preset : synthesis::preset_orders(table)) {
      ASSERT_TRUE(clock.run(preset.lists)) << preset.name;
      const OrderCheck check =
          check_order(token_list(to_order(table, preset.lists)), request.costs);
      EXPECT_EQ(Duration(clock.score().time), objective_of(check, request.objective))
          << preset.name;
    }
  }
}

// Heads 0, 10 + 1, 21 + 1; work 3 x 30 each: the last rank's 22 + 90.
TEST(LowerBound, IsTheHeadAndWorkOfTheLastRank) {
  SynthesisRequest request = even_request(3, 1, 3);
  request.costs.transfer.assign(3, Duration(1));
  EXPECT_EQ(
      synthesis::lower_bound(synthesis::make_step_table(request, looped_layout(request.shape))),
      112);
}

}  // namespace
}  // namespace stagewright
