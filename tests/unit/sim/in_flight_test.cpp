#include "sim/memory/in_flight.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "memory_setups.h"
#include "planner/schedules/registry.h"

namespace stagewright {
namespace {

/// Stages of micro-batches that a rank's list holds at most: from the forward to the last backward
/// of the same stage and micro-batch.
std::int32_t held_by(const std::vector<Action>& actions) {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> last;
  const auto key = [](const Action& action) {
    return std::pair(action.stage.index(), action.micro_batch.index());
  };
  for (std::size_t i = 0; i < actions.size(); ++i) {
    last[key(actions[i])] = i;
  }
  std::int32_t held = 0;
  std::int32_t most = 0;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    held += actions[i].kind == ActionKind::kForward ? 1 : 0;
    most = std::max(most, held);
    held -= last.at(key(actions[i])) == i ? 1 : 0;
  }
  return most;
}

struct Shape {
  const char* schedule;
  std::int32_t virtual_stages;
};

class InFlight : public testing::TestWithParam<Shape> {};

TEST_P(InFlight, IsWhatTheGeneratedListHolds) {
  const auto generator = find_schedule(GetParam().schedule);
  ASSERT_TRUE(generator.has_value());
  for (const std::int32_t ranks : {2, 4, 8}) {
    for (const std::int32_t batches : {8, 16, 32}) {
      const PipelineShape shape{
          .ranks = ranks, .virtual_stages = GetParam().virtual_stages, .micro_batches = batches};
      const auto order = generator->generate(shape);
      ASSERT_TRUE(order.has_value()) << order.error().message;
      TrainingRun run = gpt_run(64, 1024, 16);
      run.pp = ranks;
      run.virtual_stages = GetParam().virtual_stages;
      run.micro_batches = batches;
      run.schedule = GetParam().schedule;
      for (std::int32_t rank = 0; rank < ranks; ++rank) {
        const double stages = held_by(order->ranks[static_cast<std::size_t>(rank)]);
        EXPECT_DOUBLE_EQ(in_flight(run, rank), stages / GetParam().virtual_stages)
            << ranks << " ranks, " << batches << " micro-batches, rank " << rank;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Exactly,
                         InFlight,
                         testing::Values(Shape{"1f1b", 1},
                                         Shape{"gpipe", 1},
                                         Shape{"interleaved-1f1b", 2},
                                         Shape{"interleaved-1f1b", 4},
                                         Shape{"eager-1f1b", 1}),
                         [](const auto& shape) {
                           std::string name = shape.param.schedule;
                           std::ranges::replace(name, '-', '_');
                           return name + "_" + std::to_string(shape.param.virtual_stages);
                         });

class InFlightBound : public testing::TestWithParam<Shape> {};

TEST_P(InFlightBound, IsAtLeastWhatTheGeneratedListHoldsAndCloseOnTheFullestRank) {
  const auto generator = find_schedule(GetParam().schedule);
  ASSERT_TRUE(generator.has_value());
  for (const std::int32_t ranks : {4, 8}) {
    const PipelineShape shape{
        .ranks = ranks, .virtual_stages = GetParam().virtual_stages, .micro_batches = 32};
    const auto order = generator->generate(shape);
    ASSERT_TRUE(order.has_value()) << order.error().message;
    TrainingRun run = gpt_run(64, 1024, 16);
    run.pp = ranks;
    run.virtual_stages = GetParam().virtual_stages;
    run.micro_batches = 32;
    run.schedule = GetParam().schedule;
    double fullest = 0;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      const double held =
          static_cast<double>(held_by(order->ranks[static_cast<std::size_t>(rank)])) /
          GetParam().virtual_stages;
      fullest = std::max(fullest, held);
      EXPECT_GE(in_flight(run, rank), held) << ranks << " ranks, rank " << rank;
    }
    EXPECT_LE(in_flight(run, 0), fullest + 1) << ranks << " ranks";
  }
}

INSTANTIATE_TEST_SUITE_P(WithSplitBackward,
                         InFlightBound,
                         testing::Values(Shape{"zb-h1", 1},
                                         Shape{"zb-h1-quick-start", 1},
                                         Shape{"zb-h2", 1},
                                         Shape{"zb-v", 2},
                                         Shape{"v-half", 2},
                                         Shape{"dualpipe-v", 2}),
                         [](const auto& shape) {
                           std::string name = shape.param.schedule;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// The textbook's question: 1F1B with 4 stages holds 4, 3, 2, 1 micro-batches.
TEST(InFlightOfOneForwardOneBackward, FallsFromStageToStage) {
  TrainingRun run = gpt_run(64, 1024, 16);
  run.pp = 4;
  run.micro_batches = 16;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    EXPECT_DOUBLE_EQ(in_flight(run, rank), 4 - rank);
  }
  run.micro_batches = 2;
  EXPECT_DOUBLE_EQ(in_flight(run, 0), 2);
}

}  // namespace
}  // namespace stagewright
