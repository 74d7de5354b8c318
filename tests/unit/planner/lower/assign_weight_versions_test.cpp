#include "planner/lower/assign_weight_versions.h"

#include <gtest/gtest.h>

#include "planner/schedules/registry.h"
#include "tests/support/program_text.h"

namespace stagewright {
namespace {

PipelineOrder order_of(const std::string& schedule, const PipelineShape& shape) {
  return find_schedule(schedule)->generate(shape).value();
}

// Rank 0 keeps the weights that micro-batch 1 has seen while it makes new ones; rank 1 changes
// them in place.
TEST(AssignWeightVersions, PipeDreamStashesInARing) {
  const VersionedOrder versioned =
      assign_weight_versions(order_of("pipedream", {.ranks = 2, .micro_batches = 3})).value();
  EXPECT_EQ(text_of(versioned.order.ranks[0]), "0F0 0F1 0B0 0U0v1 0F2v1 0B1 0U1 0B2v1 0U2v1");
  EXPECT_EQ(text_of(versioned.order.ranks[1]), "1F0 1B0 1U0 1F1 1B1 1U1 1F2 1B2 1U2");
  EXPECT_EQ(versioned.stages,
            (std::vector<StageVersions>{{.slots = 2, .newest_at_end = 1}, {.slots = 1}}));
}

// Slot 0 is the newest, 1 the one before.  Micro-batch 2 enters before the first update, so what it
// finds as the newest has become the one before when its backward comes.
TEST(AssignWeightVersions, TwoBufferedWeightsAreOneBehind) {
  const VersionedOrder versioned =
      assign_weight_versions(
          order_of("pipedream-2bw",
                   {.ranks = 2, .micro_batches = 4, .parameters = {{"update_every", 2}}}))
          .value();
  EXPECT_EQ(text_of(versioned.order.ranks[0]),
            "0F0v1 0F1v1 0B0v1 0F2 0B1v1 0U1 0F3v1 0B2v1 0B3v1 0U3");
  EXPECT_EQ(text_of(versioned.order.ranks[1]),
            "1F0v1 1B0v1 1F1v1 1B1v1 1U1 1F2v1 1B2v1 1F3v1 1B3v1 1U3");
  const StageVersions both{.slots = 2, .keeps_previous = true};
  EXPECT_EQ(versioned.stages, (std::vector<StageVersions>{both, both}));
}

TEST(AssignWeightVersions, RefusesGroupsThatAreNotWhole) {
  PipelineOrder order = order_of("1f1b", {.ranks = 2, .micro_batches = 3});
  order.updates = WeightUpdates{.every = 2};
  const auto versioned = assign_weight_versions(order);
  ASSERT_FALSE(versioned);
  EXPECT_EQ(versioned.error().to_string(),
            "plan:/schedule_parameters: weights change every 2 micro-batches, which does not "
            "divide those of stage 0; take a divisor");
}

// GPipe has all micro-batches under way: the third would still need the weights of the start.
TEST(AssignWeightVersions, RefusesOneBehindWhereTooManyAreUnderWay) {
  PipelineOrder order = order_of("gpipe", {.ranks = 1, .micro_batches = 3});
  order.updates = WeightUpdates{.every = 1, .one_behind = true};
  const auto versioned = assign_weight_versions(order);
  ASSERT_FALSE(versioned);
  EXPECT_EQ(versioned.error().code, ErrorCode::kInfeasible);
}

TEST(AssignWeightVersions, LeavesOtherOrdersAsTheyAre) {
  const PipelineOrder order = order_of("1f1b", {.ranks = 2, .micro_batches = 3});
  const VersionedOrder versioned = assign_weight_versions(order).value();
  EXPECT_EQ(versioned.order, order);
  EXPECT_EQ(versioned.stages, std::vector<StageVersions>(2));
}

}  // namespace
}  // namespace stagewright
