#include "sim/analysis/goodput.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/longest_time.h"
#include "sim/analysis/failure_times.h"

namespace stagewright {

Duration young_interval(Duration checkpoint_time, MeanTime mtbf) {
  return from_seconds(std::sqrt(2 * to_seconds(checkpoint_time) * mtbf.count()));
}

Duration daly_interval(Duration checkpoint_time, MeanTime mtbf) {
  const double c = to_seconds(checkpoint_time);
  const double m = mtbf.count();
  if (c >= 2 * m) {
    return from_seconds(m);
  }
  const double ratio = c / (2 * m);
  return from_seconds(std::sqrt(2 * c * m) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - c);
}

namespace {

/// Share of time in which all `servers` are busy (recursion in their number).
double erlang_loss(std::int64_t servers, double load) {
  double loss = 1;
  for (std::int64_t n = 1; n <= servers && loss > 0; ++n) {
    loss = load * loss / (static_cast<double>(n) + load * loss);
  }
  return loss;
}

double times_a_day(MeanTime between) {
  constexpr double kSecondsPerDay = 86400;
  return kSecondsPerDay / between.count();
}

}  // namespace

Result<void> check_failures(const FailureModel& model) {
  const std::pair<const char*, MeanTime> needed[] = {{"mean time between failures", model.mtbf},
                                                     {"step time", model.step_time}};
  for (const auto& [what, time] : needed) {
    if (time <= MeanTime{}) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("the {} is {}; it must be above zero", what, to_string(time)));
    }
  }
  const std::pair<const char*, Duration> others[] = {{"checkpoint time", model.checkpoint_time},
                                                     {"restart time", model.restart_time},
                                                     {"repair time", model.repair_time}};
  for (const auto& [what, time] : others) {
    if (time < Duration{}) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("the {} is {}; it cannot be negative", what, to_string(time)));
    }
  }
  if (model.interval_steps && *model.interval_steps < 1) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("a checkpoint every {} steps; take 1 or more", *model.interval_steps));
  }
  const double stretch =
      to_seconds(model.step_time) * static_cast<double>(steps_between_checkpoints(model)) +
      to_seconds(model.checkpoint_time);
  if (stretch > kLongestSeconds) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{} steps between checkpoints take {:.0f} s, more than the clock of "
                            "picoseconds counts; take fewer",
                            steps_between_checkpoints(model),
                            stretch));
  }
  constexpr double kMostMeanTimes = 700;
  if (std::max(stretch, to_seconds(model.restart_time)) / model.mtbf.count() > kMostMeanTimes) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("with a failure every {} on average the run gets nowhere: a stretch "
                            "with its checkpoint takes {}, a restart {}",
                            to_string(model.mtbf),
                            to_string(from_seconds(stretch)),
                            to_string(model.restart_time)));
  }
  return {};
}

std::int64_t steps_between_checkpoints(const FailureModel& model) {
  if (model.interval_steps) {
    return *model.interval_steps;
  }
  const Duration best = daly_interval(model.checkpoint_time, model.mtbf);
  const double steps = to_seconds(best) / to_seconds(model.step_time);
  return std::max<std::int64_t>(std::llround(steps), 1);
}

Result<Goodput> expected_goodput(const FailureModel& model) {
  if (auto checked = check_failures(model); !checked) {
    return pass_on(std::move(checked));
  }
  Goodput result;
  result.interval_steps = steps_between_checkpoints(model);
  result.interval = model.step_time * result.interval_steps;
  const double m = model.mtbf.count();
  const double work = to_seconds(result.interval);
  const double checkpoint = to_seconds(model.checkpoint_time);
  const double restart = to_seconds(model.restart_time);
  // Of one stretch, in seconds while the run has its nodes.
  const double failed = std::expm1((work + checkpoint) / m);  // stretches that fail per success
  const double whole = m * std::exp(restart / m) * failed;
  result.no_spare =
      model.repair_time > Duration{}
          ? erlang_loss(std::int64_t{model.spare_nodes} + 1, to_seconds(model.repair_time) / m)
          : 0;
  const double share = (1 - result.no_spare) / whole;
  result.useful = work * share;
  result.checkpoint = checkpoint * share;
  // Every failure of a stretch is followed by one restart that succeeds.
  result.restart = failed * restart * share;
  result.lost = 1 - result.no_spare - result.useful - result.checkpoint - result.restart;
  result.failures_per_day = (1 - result.no_spare) * times_a_day(model.mtbf);
  return result;
}

}  // namespace stagewright
