#include "planner/schedules/pipeline_order.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "planner/schedules/registry.h"
#include "tests/support/program_text.h"

namespace stagewright {
namespace {

Plan plan_with(const std::string& schedule, std::int32_t ranks, std::int32_t micro_batches) {
  Plan plan;
  plan.stages = even_stages(ranks, ranks, 1, 1);
  plan.micro_batches = micro_batches;
  plan.schedule = schedule;
  return plan;
}

std::vector<std::string> texts_of(const Plan& plan) {
  const Result<PipelineOrder> order = pipeline_order(plan);
  std::vector<std::string> texts;
  if (!order) {
    texts.push_back(order.error().to_string());
    return texts;
  }
  for (const auto& rank : order->ranks) {
    texts.push_back(text_of(rank));
  }
  return texts;
}

TEST(PipelineOrder, GPipeRunsAllForwardsThenAllBackwards) {
  EXPECT_EQ(texts_of(plan_with("gpipe", 2, 3)),
            (std::vector<std::string>{"0F0 0F1 0F2 0B0 0B1 0B2", "1F0 1F1 1F2 1B0 1B1 1B2"}));
}

// Figure 4 of Narayanan et al. 2021 with 4 devices and 8 micro-batches.
TEST(PipelineOrder, OneForwardOneBackwardIsTheTextbookOrder) {
  EXPECT_EQ(texts_of(plan_with("1f1b", 4, 8)),
            (std::vector<std::string>{
                "0F0 0F1 0F2 0F3 0B0 0F4 0B1 0F5 0B2 0F6 0B3 0F7 0B4 0B5 0B6 0B7",
                "1F0 1F1 1F2 1B0 1F3 1B1 1F4 1B2 1F5 1B3 1F6 1B4 1F7 1B5 1B6 1B7",
                "2F0 2F1 2B0 2F2 2B1 2F3 2B2 2F4 2B3 2F5 2B4 2F6 2B5 2F7 2B6 2B7",
                "3F0 3B0 3F1 3B1 3F2 3B2 3F3 3B3 3F4 3B4 3F5 3B5 3F6 3B6 3F7 3B7"}));
}

TEST(PipelineOrder, OneForwardOneBackwardAllowsFewerMicroBatchesThanRanks) {
  EXPECT_EQ(texts_of(plan_with("1f1b", 3, 1)),
            (std::vector<std::string>{"0F0 0B0", "1F0 1B0", "2F0 2B0"}));
}

TEST(PipelineOrder, OneRankRunsForwardAndBackwardInTurn) {
  EXPECT_EQ(texts_of(plan_with("1f1b", 1, 3)),
            (std::vector<std::string>{"0F0 0B0 0F1 0B1 0F2 0B2"}));
}

TEST(PipelineOrder, FlushesRepeatTheOrderForTheNextMicroBatches) {
  Plan plan = plan_with("gpipe", 1, 4);
  plan.flushes = 2;
  EXPECT_EQ(texts_of(plan), (std::vector<std::string>{"0F0 0F1 0B0 0B1 0F2 0F3 0B2 0B3"}));
}

TEST(PipelineOrder, AnUnknownScheduleIsAnErrorThatSuggestsOne) {
  EXPECT_EQ(texts_of(plan_with("gpip", 2, 2)),
            (std::vector<std::string>{
                "plan:/schedule: there is no schedule 'gpip'; did you mean 'gpipe'?"}));
}

TEST(PipelineOrder, AnUnknownParameterIsAnError) {
  Plan plan = plan_with("1f1b", 2, 2);
  plan.schedule_parameters["warmup"] = 3;
  EXPECT_EQ(texts_of(plan),
            (std::vector<std::string>{"plan:/schedule_parameters/warmup: schedule '1f1b' has no "
                                      "parameter 'warmup'; it has none"}));
}

TEST(PipelineOrder, SchedulesWithOneStagePerRankRefuseVirtualStages) {
  Plan plan = plan_with("1f1b", 4, 2);
  plan.virtual_stages = 2;
  EXPECT_EQ(
      texts_of(plan),
      (std::vector<std::string>{
          "plan:/virtual_stages: schedule '1f1b' has one stage per rank, but virtual_stages is "
          "2; set it to 1 or choose a schedule with virtual stages"}));
}

/// What the orders of a schedule have in them, over all shapes that it takes.
struct Found {
  bool halves = false;
  bool pairs = false;
  bool updates = false;
};

Found found_in(const ScheduleGenerator& generator) {
  Found found;
  for (std::int32_t ranks = 1; ranks <= 4; ++ranks) {
    for (std::int32_t batches = ranks; batches <= 8; batches += ranks) {
      const Result<PipelineOrder> order =
          generator.generate({.ranks = ranks,
                              .virtual_stages = generator.default_virtual_stages,
                              .micro_batches = batches,
                              .parameters = {}});
      if (!order) {
        continue;
      }
      found.pairs = found.pairs || !order->pairs.empty();
      found.updates = found.updates || order->updates.has_value();
      for (const std::vector<Action>& rank : order->ranks) {
        found.halves = found.halves || std::ranges::any_of(rank, [](const Action& action) {
                         return action.kind == ActionKind::kBackwardWeight;
                       });
      }
    }
  }
  return found;
}

/// A field that a new schedule leaves out leaves it out of lists, of the search or of its bounds.
TEST(ScheduleRegistry, EveryScheduleIsDescribedInFull) {
  for (const ScheduleGenerator& generator : schedule_generators()) {
    SCOPED_TRACE(std::string(generator.name));
    EXPECT_FALSE(generator.name.empty());
    EXPECT_FALSE(generator.summary.empty());
    EXPECT_FALSE(generator.figures.bubble.empty());
    EXPECT_FALSE(generator.figures.peak.empty());
    EXPECT_FALSE(generator.figures.weights.empty());
    EXPECT_FALSE(generator.figures.constraints.empty());
    EXPECT_GE(generator.default_virtual_stages, 1);
    EXPECT_NE(generator.generate, nullptr);
    if (generator.synthesised) {
      continue;  // its placement, halves and pairs are what is searched for
    }
    EXPECT_NE(generator.layout, nullptr);
    EXPECT_NE(generator.accepts, nullptr);
    const Found found = found_in(generator);
    EXPECT_EQ(generator.splits_backward, found.halves);
    EXPECT_EQ(generator.asynchronous, found.updates);
    EXPECT_TRUE(generator.pairs || !found.pairs);
  }
}

TEST(ScheduleRegistry, EveryScheduleIsFoundByItsName) {
  for (const ScheduleGenerator& generator : schedule_generators()) {
    const Result<ScheduleGenerator> found = find_schedule(generator.name);
    ASSERT_TRUE(found) << generator.name;
    EXPECT_EQ(found->summary, generator.summary);
  }
}

}  // namespace
}  // namespace stagewright
