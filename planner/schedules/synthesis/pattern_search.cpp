#include "planner/schedules/synthesis/pattern_search.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "planner/schedules/synthesis/pattern.h"
#include "planner/schedules/synthesis/starts.h"

namespace stagewright::synthesis {
namespace {

/// How many patterns are varied side by side.
constexpr std::size_t kParents = 6;

struct ScoredPattern {
  OrderScore score;
  VirtualTimePattern pattern;
};

OrderScore try_times(const StepTable& table,
                     const VirtualTimes& times,
                     const ReplayRule& rule,
                     BestOrders& best_orders) {
  std::optional<StepLists> lists = replay(table, times, rule);
  return lists ? best_orders.offer(*std::move(lists)) : OrderScore{};
}

ReplayRule any_rule(const StepTable& table, std::mt19937& engine) {
  constexpr std::uint32_t kSteps = 12;
  return {.weight_share = static_cast<double>(engine() % (kSteps + 1)) / kSteps,
          .window = static_cast<std::int32_t>(engine() % 5),
          .must_fit = engine() % 2 == 0,
          .backwards = any_backwards(table, engine)};
}

}  // namespace

void search_patterns(const StepTable& table,
                     std::int32_t replays,
                     std::int64_t good_enough,
                     std::mt19937& engine,
                     BestOrders& best_orders) {
  std::vector<ScoredPattern> tried;
  std::vector<VirtualTimePattern> patterns = first_patterns(table);
  // Odd, so that all rules, which come in turn, are among them.
  const std::size_t every = patterns.size() / static_cast<std::size_t>(replays) | 1U;
  for (std::size_t i = 0; i < patterns.size(); i += every) {
    VirtualTimePattern& pattern = patterns[i];
    const OrderScore score =
        try_times(table, virtual_times(table, pattern), pattern.rule, best_orders);
    if (score.time <= good_enough) {
      return;
    }
    tried.push_back({score, std::move(pattern)});
  }
  const auto better = [](const ScoredPattern& a, const ScoredPattern& b) {
    return a.score < b.score;
  };
  std::stable_sort(tried.begin(), tried.end(), better);
  tried.resize(std::min(tried.size(), kParents));
  for (std::int32_t i = 0; i < replays; ++i) {
    ScoredPattern& parent = tried[engine() % tried.size()];
    VirtualTimePattern pattern = varied(parent.pattern, table, engine);
    const OrderScore score =
        try_times(table, virtual_times(table, pattern), pattern.rule, best_orders);
    if (score <= parent.score) {
      parent = {score, std::move(pattern)};
    }
    if (score.time <= good_enough) {
      return;
    }
  }
}

void search_offsets(const StepTable& table,
                    std::int32_t replays,
                    std::int64_t good_enough,
                    std::mt19937& engine,
                    BestOrders& best_orders) {
  if (best_orders.best().empty()) {
    return;
  }
  const auto stages = static_cast<std::uint32_t>(table.frame.stages);
  const auto micro_batches = static_cast<std::size_t>(table.frame.micro_batches);
  const auto work = static_cast<double>(table.work_of(0));
  VirtualTimes times = times_of(table, best_orders.best().front().lists);
  OrderScore current{};
  for (std::int32_t i = 0; i < replays; ++i) {
    VirtualTimes trial = times;
    const auto changes = static_cast<std::uint32_t>(1 + engine() % 3);
    for (std::uint32_t change = 0; change < changes; ++change) {
      std::vector<double>& moved = engine() % 2 == 0 ? trial.forward : trial.backward;
      const std::size_t begin = (engine() % stages) * micro_batches;
      const double by = work * (static_cast<double>(engine() % 1001) / 1000 - 0.5);
      for (std::size_t m = 0; m < micro_batches; ++m) {
        moved[begin + m] += by;
      }
    }
    const OrderScore score = try_times(table, trial, any_rule(table, engine), best_orders);
    if (score <= current) {
      current = score;
      times = std::move(trial);
    }
    if (score.time <= good_enough) {
      return;
    }
  }
}

}  // namespace stagewright::synthesis
