// What holds of every generator's lists, for random sizes and costs.

#include <algorithm>
#include <optional>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/schedule/token_list.h"
#include "planner/lower/lowered_list.h"
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

/// For a schedule that is searched for: uneven stages and caps, and little effort.
PipelineShape small_search(PipelineShape shape, Dice& dice) {
  shape.ranks = dice.between(1, 5);
  shape.virtual_stages = dice.between(1, 3);
  shape.micro_batches = dice.between(1, 10);
  shape.parameters["effort"] = 0;
  shape.parameters["transfer"] = dice.between(0, 50);
  for (std::int32_t stage = 0; stage < shape.stages(); ++stage) {
    for (const char* name : {"f", "i", "w", "b"}) {
      shape.parameters[fmt::format("{}.{}", name, stage)] = dice.between(1, 200);
    }
  }
  for (std::int32_t rank = 0; rank < shape.ranks; ++rank) {
    shape.parameters[fmt::format("cap.{}", rank)] =
        dice.between(shape.virtual_stages, 2 * shape.stages());
  }
  return shape;
}

PipelineShape random_shape(const ScheduleGenerator& generator, Dice& dice) {
  PipelineShape shape{.ranks = dice.between(1, 9),
                      .virtual_stages = generator.default_virtual_stages,
                      .micro_batches = dice.between(1, 40)};
  if (generator.default_virtual_stages > 1 && dice.between(0, 1) == 1) {
    shape.virtual_stages = dice.between(1, 5);
  }
  if (generator.synthesised) {
    return small_search(shape, dice);
  }
  for (const std::string_view parameter : generator.parameters) {
    if (dice.between(0, 1) == 1) {
      shape.parameters[std::string(parameter)] =
          parameter == "group" ? dice.between(shape.ranks, 2 * shape.ranks) : 1;
    }
  }
  return shape;
}

PipelineCosts random_costs(std::int32_t stages, Dice& dice) {
  return {.forward = dice.durations(stages, 1, 1000),
          .backward = dice.durations(stages, 1, 2000),
          .backward_input = dice.durations(stages, 1, 1000),
          .backward_weight = dice.durations(stages, 1, 1000),
          .transfer = dice.durations(stages, 0, 500),
          .overlap = 0.8};
}

/// What a rank of the schedule holds at most, in closed form: activations of a stage until the
/// weight gradient (the table in docs/schedules.md).  Nothing where no formula is stated.
std::optional<std::int32_t> stated_peak(const ScheduleGenerator& generator,
                                        const PipelineShape& shape,
                                        std::int32_t rank) {
  const std::int32_t p = shape.ranks;
  const std::int32_t v = shape.virtual_stages;
  const std::int32_t m = shape.micro_batches;
  const bool grouped = !shape.parameters.empty() || m % p != 0;
  const std::string_view name = generator.name;
  if (name == "gpipe" || name == "looped-bfs") {
    return v * m;
  }
  if (name == "1f1b" || name == "pipedream" || name == "pipedream-2bw") {
    return std::min(p - rank, m);
  }
  if (name == "eager-1f1b") {
    return std::min(2 * (p - 1 - rank) + 1, m);
  }
  if (name == "interleaved-1f1b" && !grouped) {
    return std::min((v - 1) * p + 2 * (p - 1 - rank) + 1, v * m);
  }
  if (name == "zb-h1" || name == "zb-h1-quick-start" ||
      (name == "interleaved-zero-bubble" && !grouped)) {
    return std::min(v * p, v * m);
  }
  if (name == "zb-h2") {
    return 2 * p - 1;
  }
  if (name == "zb-v") {
    return std::min(2 * p, 2 * m);
  }
  if (name == "v-half") {
    return p % 2 == 0 ? p + 2 : p + 1;
  }
  if (name == "v-min") {
    return 2 * p / 3 + 4;
  }
  if (name == "dualpipe-v") {
    return 2 * p + 1;
  }
  if (name == "dualpipe") {
    return p + 1;
  }
  if (name == "chimera") {
    return std::max(2, p);
  }
  if (name == "hanayo") {
    return std::min(m <= p ? v * p : (v + 2) * p, v * m);
  }
  if (generator.synthesised) {
    return static_cast<std::int32_t>(shape.parameter(fmt::format("cap.{}", rank), 0));
  }
  return std::nullopt;
}

void expect_peaks_kept(const ScheduleGenerator& generator,
                       const PipelineShape& shape,
                       const ActivationPeaks& peaks) {
  for (std::size_t rank = 0; rank < peaks.to_weight.size(); ++rank) {
    if (const auto most = stated_peak(generator, shape, static_cast<std::int32_t>(rank))) {
      EXPECT_LE(peaks.to_weight[rank], *most) << "rank " << rank;
    }
  }
}

PipelineOrder unpaired(PipelineOrder order) {
  order.pairs.clear();
  return order;
}

/// Deadlock-free under all queue models once lowered, whatever the costs.
void expect_runs_lowered(const PipelineOrder& order, const PipelineCosts& costs) {
  const Result<TokenList> lowered = lowered_list(order);
  ASSERT_TRUE(lowered) << lowered.error().to_string();
  EXPECT_EQ(compute_only(*lowered), compute_only(token_list(unpaired(order))));
  const OrderCheck check = check_order(*lowered, costs);
  ASSERT_FALSE(check.fault) << check.fault->to_string();
  for (const auto& [model, timing] : check.queues) {
    EXPECT_FALSE(timing.fault) << name_of(model) << ": " << timing.fault->to_string();
  }
}

TEST(GeneratedLists, AreCompleteKeepTheirPeaksAndNeverWaitForEver) {
  constexpr int kLists = 300;
  constexpr int kSearched = 30;
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Dice dice(seed);
  for (const ScheduleGenerator& generator : schedule_generators()) {
    int generated = 0;
    for (int i = 0; i < (generator.synthesised ? kSearched : kLists); ++i) {
      const PipelineShape shape = random_shape(generator, dice);
      const Result<PipelineOrder> order = generator.generate(shape);
      if (!order) {
        EXPECT_EQ(order.error().code, ErrorCode::kInfeasible) << generator.name;
        continue;
      }
      ++generated;
      SCOPED_TRACE(fmt::format("{} P {} V {} M {}",
                               generator.name,
                               shape.ranks,
                               shape.virtual_stages,
                               shape.micro_batches));
      const PipelineCosts costs = random_costs(order->stages, dice);
      const OrderCheck check = check_order(token_list(*order), costs);
      ASSERT_FALSE(check.fault) << check.fault->to_string();
      expect_peaks_kept(generator, shape, check.peaks);
      expect_runs_lowered(*order, costs);
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
    EXPECT_EQ(peak("zb-h1-quick-start", p, 1), p);
    EXPECT_EQ(peak("zb-h2", p, 1), 2 * p - 1);
    EXPECT_EQ(peak("interleaved-zero-bubble", p, 3), 3 * p);
    EXPECT_EQ(peak("zb-v", p, 2), 2 * p);
    EXPECT_EQ(peak("v-half", p, 2), p + 2);
    EXPECT_EQ(peak("v-half", p + 1, 2), p + 2);
    EXPECT_EQ(peak("dualpipe-v", p, 2), 2 * p + 1);
    EXPECT_EQ(peak("dualpipe", p, 1), p + 1);
    EXPECT_LE(peak("v-min", p, 2), 2 * p / 3 + 4);
    EXPECT_LE(peak("chimera", p, 1), std::max(2, p));
    EXPECT_LE(peak("hanayo", p, 4), 5 * p + p / 2);
  }
}

/// Bubble over (P - 1)(F + B) and the work, in units of a stage's forward with B = 2 F.
TEST(GeneratedLists, OfHanayoKeepTheWavesGoingBeyondOneUnit) {
  const auto excess = [](std::int32_t p, std::int32_t v, std::int32_t m) {
    const Result<PipelineOrder> order = find_schedule("hanayo")->generate(
        {.ranks = p, .virtual_stages = v, .micro_batches = m, .parameters = {}});
    const PipelineCosts costs =
        costs_per_stage({.forward = from_seconds(1), .backward = from_seconds(2)}, order->stages);
    const OrderCheck check = check_order(token_list(*order), costs);
    return to_seconds(check.timing.makespan) - 3 * (p - 1 + v * m);
  };
  for (const std::int32_t p : {2, 4, 8}) {
    for (const std::int32_t v : {2, 4}) {
      SCOPED_TRACE(fmt::format("P {} V {}", p, v));
      EXPECT_LE(excess(p, v, p), p + v);
      EXPECT_LE(excess(p, v, 2 * p), 3 * p);
      EXPECT_LE(excess(p, v, 4 * p), 4 * p);
    }
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
