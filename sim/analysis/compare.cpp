#include "sim/analysis/compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/trace/optimizer_waits.h"
#include "sim/analysis/order_statistics.h"
#include "sim/analysis/summary.h"
#include "sim/analysis/trace_figures.h"
#include "sim/analysis/trace_work.h"

namespace stagewright {

std::optional<double> TimePair::error() const {
  if (measured == Duration{}) {
    return std::nullopt;
  }
  return to_seconds(predicted) / to_seconds(measured) - 1;
}

namespace {

/// Share of the measured busy time from which on a kind of action counts for the worst error:
/// below it, relative errors say more about the clock than about the prediction.
constexpr double kSmallestShare = 0.05;

/// What an event is about; ordered by rank, then by place in the list, an action before its
/// operations.
using EventKey = std::tuple<RankId, std::int32_t, std::optional<std::int32_t>>;

/// One per step.
struct SideTimes {
  std::vector<Duration> starts;
  std::vector<Duration> durations;
};

struct MatchedEvent {
  const TraceEvent* event = nullptr;  ///< one of them, for what it is
  SideTimes predicted;
  SideTimes measured;
};

using Matches = std::map<EventKey, MatchedEvent>;

/// An optimizer step takes what it works: waits inside it are of those who were waited for.
void collect(const Trace& trace, SideTimes MatchedEvent::*side, Matches& matches) {
  const OptimizerWaits waits(trace);
  for (const TraceEvent& event : trace.events) {
    if (counts(trace, event.step)) {
      MatchedEvent& match = matches[{event.rank, event.action_index, event.op_index}];
      match.event = &event;
      (match.*side).starts.push_back(event.start.time_since_epoch());
      (match.*side)
          .durations.push_back(event.op_index ? event.end - event.start : waits.worked_time(event));
    }
  }
}

/// Sums of one kind while they are collected.
struct KindSum {
  TimePair total;
  std::int64_t count = 0;
  double absolute_errors = 0;
  std::int64_t with_error = 0;

  void add(const TimePair& pair) {
    total.predicted += pair.predicted;
    total.measured += pair.measured;
    ++count;
    if (const auto error = pair.error()) {
      absolute_errors += std::abs(*error);
      ++with_error;
    }
  }
};

std::vector<KindComparison> largest_first(const std::map<std::string, KindSum>& sums) {
  std::vector<KindComparison> kinds;
  kinds.reserve(sums.size());
  for (const auto& [kind, sum] : sums) {
    kinds.push_back(
        {.kind = kind,
         .count = sum.count,
         .total = sum.total,
         .mean_absolute_error =
             sum.with_error == 0 ? 0 : sum.absolute_errors / static_cast<double>(sum.with_error)});
  }
  std::ranges::stable_sort(
      kinds, std::greater{}, [](const KindComparison& kind) { return kind.total.measured; });
  return kinds;
}

Duration difference(const ActionComparison& action) {
  return std::max(action.own_error(), -action.own_error());
}

void compare_events(const Matches& matches, const CompareOptions& options, Comparison& result) {
  std::map<std::string, KindSum> actions;
  std::map<std::string, KindSum> operations;
  for (const auto& [key, match] : matches) {
    if (match.predicted.durations.empty() || match.measured.durations.empty()) {
      ++(match.predicted.durations.empty() ? result.only_measured : result.only_predicted);
      continue;
    }
    const TraceEvent& event = *match.event;
    const TimePair pair{median(match.predicted.durations), median(match.measured.durations)};
    if (event.op) {
      operations[std::string(name_of(*event.op))].add(pair);
    } else {
      actions[std::string(name_of(event.action))].add(pair);
      result.worst.push_back(
          {.rank = event.rank,
           .action_index = event.action_index,
           .kind = event.action,
           .stage = event.stage,
           .micro_batch = event.micro_batch,
           .start = {median(match.predicted.starts), median(match.measured.starts)},
           .duration = pair});
    }
  }
  result.actions = largest_first(actions);
  result.operations = largest_first(operations);
  std::ranges::stable_sort(result.worst, std::greater{}, difference);
  result.worst.resize(std::min(result.worst.size(), options.worst));
}

void compare_ranks(const std::map<RankId, RankFigures>& predicted,
                   const std::map<RankId, RankFigures>& measured,
                   Comparison& result) {
  for (const auto& [rank, seen] : measured) {
    const auto expected = predicted.find(rank);
    if (expected != predicted.end()) {
      const RankFigures& figures = expected->second;
      result.ranks.push_back({.rank = rank,
                              .busy = {figures.busy, seen.busy},
                              .predicted_bubble = bubble_share(figures.busy, result.step.predicted),
                              .measured_bubble = bubble_share(seen.busy, result.step.measured),
                              .end = {figures.end, seen.end},
                              .predicted_memory = figures.memory.total,
                              .measured_memory = seen.memory.total});
    }
  }
}

/// Largest over the ranks that both traces hold.
void compare_memory(const std::map<RankId, RankFigures>& predicted,
                    const std::map<RankId, RankFigures>& measured,
                    Comparison& result) {
  for (std::size_t i = 0; i < kTensorClassCount; ++i) {
    MemoryComparison row{.tensor_class = static_cast<TensorClass>(i)};
    for (const auto& [rank, seen] : measured) {
      const auto expected = predicted.find(rank);
      if (expected != predicted.end()) {
        row.predicted = std::max(row.predicted, expected->second.memory.by_class[i]);
        row.measured = std::max(row.measured, seen.memory.by_class[i]);
      }
    }
    if (row.predicted > Bytes{} || row.measured > Bytes{}) {
      result.memory.push_back(row);
    }
  }
}

double worst_error(const Comparison& comparison) {
  Duration busy{};
  for (const RankComparison& rank : comparison.ranks) {
    busy += rank.busy.measured;
  }
  double worst = 0;
  for (const KindComparison& kind : comparison.actions) {
    if (to_seconds(kind.total.measured) >= kSmallestShare * to_seconds(busy)) {
      worst = std::max(worst, std::abs(kind.total.error().value_or(0)));
    }
  }
  return worst;
}

Result<void> check_traces(const Trace& predicted,
                          const Trace& measured,
                          const CompareOptions& options) {
  if (predicted.measured) {
    return fail(ErrorCode::kInvalidInput,
                "the first trace is a measured one; give the predicted one first");
  }
  if (!measured.measured) {
    return fail(ErrorCode::kInvalidInput,
                "the second trace is a predicted one; give the measured one second");
  }
  if (predicted.schedule_hash != measured.schedule_hash && !options.ignore_schedule_hash) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("the traces come from unlike schedules: predicted {}, measured {}; "
                            "simulate the plan that was run, or force the comparison",
                            predicted.schedule_hash,
                            measured.schedule_hash));
  }
  if (predicted.step_times.empty() || measured.step_times.empty()) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("the {} trace holds no step",
                            predicted.step_times.empty() ? "predicted" : "measured"));
  }
  return {};
}

void compare_causes(const BubbleCauses& predicted,
                    const BubbleCauses& measured,
                    Comparison& result) {
  for (int i = 0; i < kBubbleCauseCount; ++i) {
    const auto cause = static_cast<BubbleCause>(i);
    const CauseComparison row{cause, predicted.share(cause), measured.share(cause)};
    if (row.predicted > 0 || row.measured > 0) {
      result.causes.push_back(row);
    }
  }
}

}  // namespace

Result<Comparison> compare(const Trace& predicted,
                           const Trace& measured,
                           const CompareOptions& options) {
  if (auto checked = check_traces(predicted, measured, options); !checked) {
    return pass_on(std::move(checked));
  }
  Matches matches;
  collect(predicted, &MatchedEvent::predicted, matches);
  collect(measured, &MatchedEvent::measured, matches);

  Comparison result;
  result.predicted_clock = predicted.clock;
  result.measured_clock = measured.clock;
  const std::vector<Duration> steps = counted_step_times(measured);
  result.step = {median(counted_step_times(predicted)), median(steps)};
  result.step_error = result.step.error().value_or(0);
  result.measured_steps = static_cast<std::int32_t>(steps.size());
  if (result.step.measured > Duration{}) {
    result.repeat_spread =
        to_seconds(half_quartile_distance(steps)) / to_seconds(result.step.measured);
  }
  compare_events(matches, options, result);
  if (result.actions.empty()) {
    return fail(ErrorCode::kInvalidInput,
                "no action of the one trace is in the other: they come from unlike runs, or one "
                "of them holds no events");
  }
  const std::map<RankId, RankFigures> expected = rank_figures(predicted);
  const std::map<RankId, RankFigures> seen = rank_figures(measured);
  compare_ranks(expected, seen, result);
  compare_memory(expected, seen, result);
  const StepWork expected_work = work_of(predicted);
  const StepWork seen_work = work_of(measured);
  compare_causes(bubble_causes(expected_work), bubble_causes(seen_work), result);
  result.effects =
      step_effects(expected_work, seen_work, result.step.measured - result.step.predicted);
  result.worst_error = worst_error(result);
  return result;
}

}  // namespace stagewright
