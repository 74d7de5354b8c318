#include "sim/engine/pipeline_graph.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "core/schedule/token_list.h"
#include "planner/schedules/registry.h"
#include "sim/analysis/list_timing.h"
#include "sim/engine/pipeline_timing.h"
#include "tests/support/pipeline_orders.h"

namespace stagewright {
namespace {

using test::append;
using test::one_forward_one_backward;

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  std::vector<Duration> durations(std::size_t count, std::int64_t high) {
    std::vector<Duration> all;
    for (std::size_t i = 0; i < count; ++i) {
      all.emplace_back(between(0, high));
    }
    return all;
  }

 private:
  std::mt19937_64 engine_;
};

PipelineCosts random_costs(const PipelineOrder& order, Dice& dice) {
  const auto stages = static_cast<std::size_t>(order.stages);
  return {.forward = dice.durations(stages, 1000),
          .backward = dice.durations(stages, 2000),
          .backward_input = dice.durations(stages, 1000),
          .backward_weight = dice.durations(stages, 1000),
          .recompute = dice.durations(stages, 1000),
          .transfer = dice.durations(stages, 500),
          .overlap = 0.8};
}

/// Orders of every generator, of random sizes.
std::vector<PipelineOrder> random_orders(Dice& dice, int of_each) {
  std::vector<PipelineOrder> orders;
  for (const ScheduleGenerator& generator : schedule_generators()) {
    for (int made = 0, tried = 0; made < of_each && tried < 200; ++tried) {
      PipelineShape shape;
      shape.ranks = static_cast<std::int32_t>(dice.between(1, 8));
      shape.micro_batches = static_cast<std::int32_t>(dice.between(1, 24));
      shape.virtual_stages = generator.default_virtual_stages;
      for (const std::string_view parameter : generator.parameters) {
        if (parameter == "overlap") {
          shape.parameters["overlap"] = dice.between(0, 1);
        }
      }
      if (auto order = generator.generate(shape)) {
        orders.push_back(*std::move(order));
        ++made;
      }
    }
  }
  return orders;
}

/// A piece of a rank's list: an action, or two that overlap.
struct Item {
  std::size_t rank = 0;
  std::vector<Action> actions;
  std::vector<std::size_t> numbers;  ///< of the actions, counted over the lists
};

std::vector<Item> items_of(const PipelineOrder& order) {
  std::vector<Item> items;
  std::size_t number = 0;
  for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
    const std::vector<Action>& list = order.ranks[rank];
    for (std::size_t i = 0; i < list.size(); ++i) {
      Item item{rank, {list[i]}, {number++}};
      if (!order.pairs.empty() &&
          std::ranges::count(order.pairs[rank], static_cast<std::int32_t>(i)) > 0) {
        item.actions.push_back(list[++i]);
        item.numbers.push_back(number++);
      }
      items.push_back(std::move(item));
    }
  }
  return items;
}

/// The rules word for word: ends by action, raised until none is too early any more.  `lengths` by
/// action; of a pair that of its first counts.
std::vector<Duration> naive_ends(const PipelineOrder& order,
                                 const std::vector<Duration>& lengths,
                                 const std::vector<Duration>& transfer,
                                 const std::vector<Duration>& late) {
  std::vector<Duration> ends(lengths.size());
  std::map<std::tuple<ActionKind, std::int32_t, std::int32_t>, std::pair<std::size_t, std::size_t>>
      place;  // rank and number
  const std::vector<Item> items = items_of(order);
  for (const Item& item : items) {
    for (std::size_t i = 0; i < item.actions.size(); ++i) {
      const Action& action = item.actions[i];
      place[{action.kind, action.stage.value(), action.micro_batch.value()}] = {item.rank,
                                                                                item.numbers[i]};
    }
  }
  const auto end_of =
      [&](ActionKind kind, std::int32_t stage, const Action& action, std::size_t to) {
        const auto found = place.find({kind, stage, action.micro_batch.value()});
        if (found == place.end()) {
          return Duration{};
        }
        const auto [rank, number] = found->second;
        const auto border = static_cast<std::size_t>(std::min(stage, action.stage.value()));
        return ends[number] +
               (rank == to || stage == action.stage.value() ? Duration{} : transfer[border]);
      };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t n = 0; n < items.size(); ++n) {
      const Item& item = items[n];
      const bool first = n == 0 || items[n - 1].rank != item.rank;
      Duration start = first ? late[item.rank] : ends[items[n - 1].numbers.front()];
      for (const Action& action : item.actions) {
        const std::int32_t s = action.stage.value();
        if (action.kind == ActionKind::kForward) {
          start = std::max(start, end_of(ActionKind::kForward, s - 1, action, item.rank));
        } else if (action.kind == ActionKind::kBackward ||
                   action.kind == ActionKind::kBackwardInput) {
          start = std::max({start,
                            end_of(ActionKind::kForward, s, action, item.rank),
                            end_of(ActionKind::kRecompute, s, action, item.rank),
                            end_of(ActionKind::kBackward, s + 1, action, item.rank),
                            end_of(ActionKind::kBackwardInput, s + 1, action, item.rank)});
        } else if (action.kind == ActionKind::kBackwardWeight) {
          start = std::max(start, end_of(ActionKind::kBackwardInput, s, action, item.rank));
        } else {
          start = std::max(start, end_of(ActionKind::kForward, s, action, item.rank));
        }
      }
      const Duration end = start + lengths[item.numbers.front()];
      moved = moved || end != ends[item.numbers.front()];
      for (const std::size_t number : item.numbers) {
        ends[number] = end;
      }
    }
  }
  return ends;
}

/// Durations by index for lengths by action.
std::vector<Duration> by_index(const PipelineGraph& graph, const std::vector<Duration>& lengths) {
  std::vector<Duration> durations(graph.graph.size());
  for (std::size_t action = lengths.size(); action-- > 0;) {
    durations[static_cast<std::size_t>(graph.index[action])] = lengths[action];
  }
  return durations;
}

std::vector<Duration> ends_by_action(const PipelineGraph& graph,
                                     const std::vector<Duration>& lags,
                                     const std::vector<Duration>& durations) {
  std::vector<Duration> ends(graph.graph.size());
  sweep(graph.graph, lags, durations, ends);
  std::vector<Duration> of_actions;
  for (const SweepIndex index : graph.index) {
    of_actions.push_back(ends[static_cast<std::size_t>(index)]);
  }
  return of_actions;
}

TEST(PipelineGraph, GivesTheTimesOfTheRulesTakenWordForWordForCostsOfEveryAction) {
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Dice dice(seed);
  for (const PipelineOrder& order : random_orders(dice, 8)) {
    const PipelineGraph graph = compile(order).value();
    PipelineCosts costs = random_costs(order, dice);
    costs.late = dice.durations(order.ranks.size(), 3000);
    const std::vector<Duration> lengths = dice.durations(graph.index.size(), 1'000'000'000'000);
    std::vector<Duration> lags;
    price_lags(graph, costs, lags);
    ASSERT_EQ(ends_by_action(graph, lags, by_index(graph, lengths)),
              naive_ends(order, lengths, costs.transfer, costs.late))
        << order.stages << " stages, " << order.micro_batches << " micro-batches";
  }
}

// The list timing of `schedules check` replays a list rank by rank.
TEST(PipelineGraph, AgreesWithTheReplayOfTheList) {
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Dice dice(seed);
  for (const PipelineOrder& order : random_orders(dice, 8)) {
    PipelineCosts costs = random_costs(order, dice);
    costs.late = dice.durations(order.ranks.size(), 3000);
    const PipelineTimer::Timing timing = PipelineTimer::make(order).value().time(costs);
    const ListTiming replay = time_list(token_list(order), costs);
    ASSERT_FALSE(replay.fault);
    ASSERT_EQ(timing.makespan, replay.makespan);
    ASSERT_EQ(timing.busy, replay.busy);
  }
}

// Longest paths: if one action takes d longer, no end comes earlier, and none later by more than d.
TEST(PipelineGraph, LongerActionDelaysByItsOwnLengthAtMostAndHastensNothing) {
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Dice dice(seed);
  for (const PipelineOrder& order : random_orders(dice, 3)) {
    const PipelineGraph graph = compile(order).value();
    std::vector<Duration> lags;
    price_lags(graph, random_costs(order, dice), lags);
    std::vector<Duration> durations = by_index(graph, dice.durations(graph.index.size(), 1000));
    const std::vector<Duration> before = ends_by_action(graph, lags, durations);
    const Duration longer(dice.between(1, 500));
    const auto chosen = static_cast<std::size_t>(
        dice.between(0, static_cast<std::int64_t>(graph.index.size()) - 1));
    durations[static_cast<std::size_t>(graph.index[chosen])] += longer;
    const std::vector<Duration> after = ends_by_action(graph, lags, durations);
    EXPECT_EQ(after[chosen], before[chosen] + longer);
    for (std::size_t i = 0; i < before.size(); ++i) {
      ASSERT_GE(after[i], before[i]);
      ASSERT_LE(after[i], before[i] + longer);
    }
  }
}

TEST(PipelineGraph, SpreadPricesGiveTheTimesOfPricesByClass) {
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Dice dice(seed);
  for (const PipelineOrder& order : random_orders(dice, 2)) {
    const PipelineGraph graph = compile(order).value();
    const PipelineCosts costs = random_costs(order, dice);
    std::vector<Duration> prices;
    std::vector<Duration> lags;
    price(graph, costs, prices);
    price_lags(graph, costs, lags);
    std::vector<Duration> by_class(graph.graph.size());
    std::vector<Duration> by_index(graph.graph.size());
    sweep_by_class(graph.graph, lags, prices, by_class);
    sweep(graph.graph, lags, spread(graph, prices), by_index);
    EXPECT_EQ(by_class, by_index);
  }
}

// Rank 1 begins 50 late, when the first micro-batch has long been there: all that it delays ends 40
// later than in time, 10 + 10 + 20 + 20 = 60 for one micro-batch.
TEST(PipelineGraph, LateRankDelaysWhatWaitsForIt) {
  const PipelineTimer timer = PipelineTimer::make(one_forward_one_backward(2, 1)).value();
  PipelineCosts costs{.forward = {Duration(10), Duration(10)},
                      .backward = {Duration(20), Duration(20)}};
  EXPECT_EQ(timer.time(costs).makespan, Duration(60));
  costs.late = {Duration(0), Duration(50)};
  EXPECT_EQ(timer.time(costs).makespan, Duration(100));
}

// Rank 0 waits for 1B0, which is reached only after 1F1; that one waits for 0F1, behind 0B0.
TEST(PipelineGraph, CycleOverSeveralRanksIsNamed) {
  PipelineOrder order = test::empty_order(2, 2);
  append(order, ActionKind::kForward, 0, 0);
  append(order, ActionKind::kBackward, 0, 0);
  append(order, ActionKind::kForward, 0, 1);
  append(order, ActionKind::kForward, 1, 0);
  append(order, ActionKind::kForward, 1, 1);
  append(order, ActionKind::kBackward, 1, 0);
  const Result<PipelineGraph> graph = compile(order);
  ASSERT_FALSE(graph.has_value());
  EXPECT_EQ(graph.error().to_string(),
            "deadlock: rank 0 action 1 (0B0) waits for rank 1 action 2 (1B0), which is reached "
            "only after rank 1 action 1 (1F1), which waits for rank 0 action 2 (0F1), which is "
            "reached only after rank 0 action 1 (0B0)");
}

TEST(PipelineGraph, TenBytesAnIndexAndFourAnAction) {
  const PipelineGraph graph = compile(one_forward_one_backward(8, 64)).value();
  EXPECT_EQ(graph.index.size(), 2U * 8 * 64);
  EXPECT_EQ(graph.graph.size(), 1 + 8 + graph.index.size());  // origin, a begin a rank, actions
}

}  // namespace
}  // namespace stagewright
