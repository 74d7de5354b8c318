// What holds of every generator's lists, for random sizes and costs.

#include <algorithm>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/schedule/token_list.h"
#include "planner/schedules/registry.h"
#include "sim/analysis/order_check.h"

namespace stagewright {
namespace {

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

PipelineShape random_shape(const ScheduleGenerator& generator, Dice& dice) {
  PipelineShape shape{.ranks = dice.between(1, 9),
                      .virtual_stages = generator.default_virtual_stages,
                      .micro_batches = dice.between(1, 40)};
  if (generator.default_virtual_stages > 1 && dice.between(0, 1) == 1) {
    shape.virtual_stages = dice.between(1, 5);
  }
  for (const std::string_view parameter : generator.parameters) {
    if (dice.between(0, 1) == 1) {
      shape.parameters[std::string(parameter)] =
          parameter == "group" ? dice.between(shape.ranks, 2 * shape.ranks) : 1;
    }
  }
  return shape;
}

ListCosts random_costs(std::int32_t stages, Dice& dice) {
  return {.stages = {.forward = dice.durations(stages, 1, 1000),
                     .backward = dice.durations(stages, 1, 2000),
                     .backward_input = dice.durations(stages, 1, 1000),
                     .backward_weight = dice.durations(stages, 1, 1000),
                     .transfer = dice.durations(stages, 0, 500)},
          .overlap = 0.8};
}

TEST(GeneratedLists, AreCompleteAndNeverWaitForEver) {
  constexpr int kLists = 300;
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Dice dice(seed);
  for (const ScheduleGenerator& generator : schedule_generators()) {
    int generated = 0;
    for (int i = 0; i < kLists; ++i) {
      const PipelineShape shape = random_shape(generator, dice);
      const Result<PipelineOrder> order = generator.generate(shape);
      if (!order) {
        EXPECT_EQ(order.error().code, ErrorCode::kInfeasible) << generator.name;
        continue;
      }
      ++generated;
      const OrderCheck check = check_order(token_list(*order), random_costs(order->stages, dice));
      ASSERT_FALSE(check.fault) << fmt::format("{} P {} V {} M {}: {}",
                                               generator.name,
                                               shape.ranks,
                                               shape.virtual_stages,
                                               shape.micro_batches,
                                               check.fault->to_string());
    }
    EXPECT_GT(generated, 0) << generator.name;
  }
}

/// With F = I = W and free transfers; the report's closed forms, in activations of a stage.
TEST(GeneratedLists, KeepThePeaksThatTheirAuthorsState) {
  const auto peak = [](std::string_view name, std::int32_t ranks, std::int32_t virtual_stages) {
    const Result<PipelineOrder> order =
        find_schedule(name)->generate({.ranks = ranks,
                                       .virtual_stages = virtual_stages,
                                       .micro_batches = 4 * ranks,
                                       .parameters = {}});
    const ActivationPeaks peaks = activation_peaks(token_list(*order));
    return *std::max_element(peaks.to_weight.begin(), peaks.to_weight.end());
  };
  for (const std::int32_t p : {2, 4, 6, 8, 16}) {
    SCOPED_TRACE(p);
    EXPECT_EQ(peak("gpipe", p, 1), 4 * p);
    EXPECT_EQ(peak("1f1b", p, 1), p);
    EXPECT_EQ(peak("eager-1f1b", p, 1), 2 * p - 1);
    EXPECT_EQ(peak("interleaved-1f1b", p, 3), 2 * p + 2 * (p - 1) + 1);
    EXPECT_EQ(peak("looped-bfs", p, 2), 8 * p);
    EXPECT_EQ(peak("zb-h1", p, 1), p);
    EXPECT_EQ(peak("zb-h2", p, 1), 2 * p - 1);
    EXPECT_EQ(peak("interleaved-zero-bubble", p, 3), 3 * p);
    EXPECT_EQ(peak("zb-v", p, 2), 2 * p);
    EXPECT_EQ(peak("v-half", p, 2), p + 2);
    EXPECT_EQ(peak("v-half", p + 1, 2), p + 2);
    EXPECT_EQ(peak("dualpipe-v", p, 2), 2 * p + 1);
    EXPECT_EQ(peak("dualpipe", p, 1), p + 1);
    EXPECT_LE(peak("v-min", p, 2), 2 * p / 3 + 4);
    EXPECT_LE(peak("chimera", p, 1), std::max(2, p));
    EXPECT_LE(peak("hanayo", p, 4), 4 * p);
  }
}

TEST(GeneratedLists, SayWhichValuesWouldObeyABrokenRule) {
  const auto message = [](std::string_view name, const PipelineShape& shape) {
    const Result<PipelineOrder> order = find_schedule(name)->generate(shape);
    return order ? std::string("no error") : order.error().message;
  };
  EXPECT_EQ(
      message("dualpipe", {.ranks = 3, .micro_batches = 8}),
      "schedule 'dualpipe' needs an even number of ranks, but there are 3; 2 or 4 would work");
  EXPECT_EQ(
      message("dualpipe", {.ranks = 4, .micro_batches = 9}),
      "schedule 'dualpipe' needs an even number of micro-batches, at least 2P = 8 on 4 ranks, "
      "but there are 9; 10 would work");
  EXPECT_EQ(
      message("chimera", {.ranks = 4, .micro_batches = 10}),
      "schedule 'chimera' needs a multiple of its 4 ranks as micro-batches, but there are 10; "
      "8 or 12 would work");
  EXPECT_EQ(message("zb-v", {.ranks = 4, .virtual_stages = 3, .micro_batches = 8}),
            "schedule 'zb-v' has 2 virtual stages per rank, but virtual_stages is 3; set it to 2");
  EXPECT_EQ(
      message("interleaved-1f1b", {.ranks = 4, .virtual_stages = 2, .micro_batches = 9}),
      "schedule 'interleaved-1f1b' cannot divide 9 micro-batches on 4 ranks into 2 equal "
      "groups; 8 or 12 micro-batches would work, or the parameter group: these would work: 5, "
      "9");
}

}  // namespace
}  // namespace stagewright
