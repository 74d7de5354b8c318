#include "planner/schedules/synthesis/synthesize.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/counted.h"
#include "planner/schedules/stage_layout.h"
#include "planner/schedules/synthesis/best_orders.h"
#include "planner/schedules/synthesis/local_moves.h"
#include "planner/schedules/synthesis/lower_bound.h"
#include "planner/schedules/synthesis/pattern_search.h"
#include "planner/schedules/synthesis/starts.h"
#include "planner/schedules/synthesis/whole_backwards.h"

namespace stagewright::synthesis {
namespace {

/// Orders of one placement that go into the local search.
constexpr std::size_t kKept = 3;
constexpr std::int32_t kMostReplays = 300;
constexpr std::int32_t kFewestReplays = 20;
/// A replay takes about as long as timing that many lists.
constexpr std::int64_t kTimingsPerReplay = 16;
constexpr std::int64_t kStepsPerEffort = 1'000'000;
/// A placement whose start is slower than the best one by more than this part is given up.
constexpr std::int64_t kFarBehind = 10;

Result<void> check_sizes(const SynthesisRequest& request) {
  const auto stages = static_cast<std::size_t>(request.shape.stages());
  const PipelineCosts& costs = request.costs;
  const auto none_or_all = [stages](const auto& by_stage) {
    return by_stage.empty() || by_stage.size() == stages;
  };
  const bool all = costs.forward.size() == stages && costs.backward_input.size() == stages &&
                   costs.backward_weight.size() == stages;
  if (!all || !none_or_all(costs.backward) || !none_or_all(costs.recompute) ||
      !none_or_all(costs.transfer) || !none_or_all(request.held) ||
      !none_or_all(request.checkpoint) || !none_or_all(request.released) ||
      !none_or_all(request.pending)) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("synthesis needs costs F, I and W of each of the {} stages, and all "
                            "or none of the others",
                            stages),
                "costs");
  }
  if (!request.memory_cap.empty() &&
      request.memory_cap.size() != static_cast<std::size_t>(request.shape.ranks)) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("there are {} memory caps for {}; give one for each",
                            request.memory_cap.size(),
                            counted(request.shape.ranks, "rank")),
                "plan:/schedule_parameters/cap");
  }
  return {};
}

std::vector<StepTable> tables_of(const SynthesisRequest& request) {
  std::vector<StepTable> tables;
  tables.push_back(make_step_table(request, looped_layout(request.shape)));
  PipelineOrder waves = wave_layout(request.shape);
  if (waves.placement != tables.front().frame.placement) {
    tables.push_back(make_step_table(request, std::move(waves)));
  }
  return tables;
}

/// As many replays as take about the steps, within limits.
std::int32_t replays_within(const StepTable& table, std::int64_t steps) {
  const std::int64_t each = kTimingsPerReplay * (table.slots + 1);
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(steps / each, kFewestReplays, kMostReplays));
}

/// The search under one placement.
class PlacementSearch {
 public:
  PlacementSearch(const StepTable& table, std::int64_t steps, std::uint32_t seed)
      : table_(table),
        bound_(lower_bound(table)),
        replays_(replays_within(table, steps)),
        engine_(seed),
        best_orders_(table, kKept) {}

  void find_starts() {
    best_orders_.offer(serial_order(table_));
    std::vector<StartOrder> presets = preset_orders(table_);
    for (const StartOrder& preset : presets) {
      const OrderScore score = best_orders_.offer(preset.lists);
      if (score != OrderScore{} && (!preset_ || score.time < preset_->time.count())) {
        preset_ = PresetTime{preset.name, Duration(score.time)};
      }
    }
    std::vector<ReplayRule> rules{
        {.weight_share = 1}, {.weight_share = 0.5}, {.weight_share = 0.1}};
    if (table_.halves_hold_more) {
      rules.push_back({.backwards = Backwards::kWhole});
    }
    for (const StartOrder& preset : presets) {
      const VirtualTimes times = times_of(table_, preset.lists);
      for (const ReplayRule& rule : rules) {
        if (auto lists = replay(table_, times, rule)) {
          best_orders_.offer(*std::move(lists));
        }
      }
    }
    if (!done()) {
      search_patterns(table_, replays_, bound_, engine_, best_orders_);
    }
    if (!done()) {
      search_offsets(table_, replays_, bound_, engine_, best_orders_);
    }
  }

  void improve_best(std::int64_t steps) {
    const std::vector<ScoredOrder> starts = best_orders_.best();
    for (const ScoredOrder& start : starts) {
      if (!done()) {
        best_orders_.offer(with_whole_backwards(table_, start.lists));
        best_orders_.offer(improve(
            table_,
            start.lists,
            {.steps = steps / static_cast<std::int64_t>(starts.size()), .good_enough = bound_},
            engine_));
      }
    }
  }

  [[nodiscard]] bool feasible() const { return !best_orders_.best().empty(); }
  [[nodiscard]] const ScoredOrder& best() const { return best_orders_.best().front(); }
  [[nodiscard]] bool done() const { return feasible() && best().score.time <= bound_; }
  [[nodiscard]] const std::optional<PresetTime>& preset() const { return preset_; }
  [[nodiscard]] std::int64_t bound() const { return bound_; }
  [[nodiscard]] const StepTable& table() const { return table_; }

 private:
  const StepTable& table_;
  std::int64_t bound_;
  std::int32_t replays_;
  std::mt19937 engine_;
  BestOrders best_orders_;
  std::optional<PresetTime> preset_;
};

/// By rank, what it holds at most with one micro-batch under way at a time: no order holds less.
std::vector<std::int64_t> least_held(const StepTable& table) {
  std::vector<std::int64_t> least;
  for (const std::vector<OrderStep>& list : serial_order(table)) {
    std::int64_t held = 0;
    std::int64_t most = 0;
    for (const OrderStep& step : list) {
      const StepType& type = table.types[static_cast<std::size_t>(step.type)];
      held += type.take;
      most = std::max(most, held);
      held -= type.give;
    }
    least.push_back(most);
  }
  return least;
}

/// Names every rank whose cap is below what one micro-batch holds there, and what would do.
Error cap_error(const StepTable& table) {
  constexpr int kShown = 8;
  const std::vector<std::int64_t> least = least_held(table);
  std::string ranks;
  int below = 0;
  for (std::size_t rank = 0; rank < table.caps.size(); ++rank) {
    if (least[rank] > table.caps[rank] && ++below <= kShown) {
      ranks += fmt::format("{}rank {} may hold {} and needs {} or more",
                           below == 1 ? "" : ", ",
                           rank,
                           table.caps[rank],
                           least[rank]);
    }
  }
  SW_CHECK(below > 0, "a rank above its cap where not even one micro-batch at a time fits");
  return {ErrorCode::kInfeasible,
          fmt::format(
              "a single micro-batch does not fit: {}{}",
              ranks,
              below > kShown ? fmt::format(", and {} more", counted(below - kShown, "rank")) : ""),
          "plan:/schedule_parameters/cap"};
}

Synthesis result_of(const PlacementSearch& best, const std::deque<PlacementSearch>& searches) {
  const StepLists lists = with_whole_backwards(best.table(), best.best().lists);
  OrderClock clock(best.table());
  SW_CHECK(clock.run(lists), "an order within the caps");
  Synthesis result{.order = to_order(best.table(), lists),
                   .time = Duration(clock.score().time),
                   .lower_bound = Duration(best.bound())};
  for (const PlacementSearch& search : searches) {
    const std::optional<PresetTime>& preset = search.preset();
    if (preset && (!result.best_preset || preset->time < result.best_preset->time)) {
      result.best_preset = preset;
    }
  }
  return result;
}

Result<Synthesis> search(const SynthesisRequest& request) {
  const std::vector<StepTable> tables = tables_of(request);
  std::deque<PlacementSearch> searches;
  std::optional<std::int64_t> fastest;
  const std::int64_t steps = request.effort * kStepsPerEffort;
  for (const StepTable& table : tables) {
    PlacementSearch& search = searches.emplace_back(table, steps, request.seed);
    search.find_starts();
    if (search.feasible()) {
      fastest = std::min(search.best().score.time, fastest.value_or(search.best().score.time));
    }
  }
  if (!fastest) {
    return tl::unexpected(cap_error(tables.front()));
  }
  std::vector<PlacementSearch*> promising;
  for (PlacementSearch& search : searches) {
    if (search.feasible() && search.best().score.time <= *fastest + *fastest / kFarBehind) {
      promising.push_back(&search);
    }
  }
  for (PlacementSearch* search : promising) {
    search->improve_best(steps / static_cast<std::int64_t>(promising.size()));
  }
  const PlacementSearch& best = **std::min_element(
      promising.begin(), promising.end(), [](const PlacementSearch* a, const PlacementSearch* b) {
        return a->best().score < b->best().score;
      });
  return result_of(best, searches);
}

}  // namespace
}  // namespace stagewright::synthesis

namespace stagewright {

Result<Synthesis> synthesize(const SynthesisRequest& request) {
  if (Result<void> checked = synthesis::check_sizes(request); !checked) {
    return pass_on(std::move(checked));
  }
  return synthesis::search(request);
}

}  // namespace stagewright
