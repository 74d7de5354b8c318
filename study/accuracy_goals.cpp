#include "study/accuracy_goals.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "study/statistics.h"

namespace stagewright {
namespace {

using Rows = std::vector<const AccuracyRow*>;

bool covered(const AccuracyRow& row) {
  return std::abs(std::log(ratio(row))) <= kBandHalfWidth * row.deviation;
}

TimeErrors errors_of(const Rows& rows) {
  std::vector<double> errors;
  std::vector<double> ratios;
  TimeErrors result{.records = static_cast<int>(rows.size())};
  int within = 0;
  int inside = 0;
  int usual = 0;
  for (const AccuracyRow* row : rows) {
    ratios.push_back(ratio(*row));
    errors.push_back(std::abs(ratios.back() - 1));
    within += errors.back() <= 0.1 ? 1 : 0;
    inside += covered(*row) ? 1 : 0;
    usual += row->device.starts_with("A100") || row->device.starts_with("H100") ? 1 : 0;
  }
  const auto count = static_cast<double>(rows.size());
  result.median = median(errors);
  result.mean = mean(errors);
  result.within_10pct = within / count;
  result.bias = median(ratios) - 1;
  result.coverage = inside / count;
  result.ampere_or_hopper = usual > count / 2;
  return result;
}

Rows timed_rows(const AccuracyReport& report, const std::string& source, bool experts) {
  Rows rows;
  for (const AccuracyRow& row : report.rows) {
    if (row.dataset == source && row.experts == experts && is_timed(row)) {
      rows.push_back(&row);
    }
  }
  return rows;
}

AccuracyGoal at_most(std::string name, double value, double most) {
  return {.name = std::move(name), .value = value, .least = 0, .most = most};
}

AccuracyGoal time_goal(const TimeErrors& errors) {
  if (errors.experts) {
    return at_most(
        errors.source + ", models with experts: median error of the time", errors.median, 0.15);
  }
  // No prediction can be nearer to a run than the run is to its repetition.
  const double most =
      errors.ampere_or_hopper ? std::max(0.06, errors.noise_floor.value_or(0)) : 0.08;
  return at_most(errors.source + ": median error of the time", errors.median, most);
}

}  // namespace

std::vector<TimeErrors> time_errors(const AccuracyReport& report) {
  std::vector<TimeErrors> result;
  for (const bool experts : {false, true}) {
    for (const SourceAccuracy& source : report.sources) {
      const Rows rows = timed_rows(report, source.name, experts);
      if (!rows.empty()) {
        result.push_back(errors_of(rows));
        result.back().source = source.name;
        result.back().experts = experts;
        result.back().noise_floor = source.noise_floor;
      }
    }
  }
  return result;
}

double mean_of_dense_medians(const AccuracyReport& report) {
  std::vector<double> medians;
  for (const TimeErrors& errors : time_errors(report)) {
    if (!errors.experts) {
      medians.push_back(errors.median);
    }
  }
  return mean(medians);
}

double mean_of_memory_medians(const AccuracyReport& report) {
  std::vector<double> medians;
  for (const SourceAccuracy& source : report.sources) {
    if (source.memory_median_ape) {
      medians.push_back(*source.memory_median_ape);
    }
  }
  return mean(medians);
}

double band_coverage(const AccuracyReport& report) {
  std::vector<double> inside;
  for (const AccuracyRow& row : report.rows) {
    if (is_timed(row)) {
      inside.push_back(covered(row) ? 1 : 0);
    }
  }
  return mean(inside);
}

std::vector<AccuracyGoal> accuracy_goals(const AccuracyReport& seen, const AccuracyReport& unseen) {
  std::vector<AccuracyGoal> goals;
  for (const TimeErrors& errors : time_errors(seen)) {
    goals.push_back(time_goal(errors));
    if (errors.source == "vtrain_single") {
      goals.push_back(at_most("vtrain_single: mean error of the time", errors.mean, 0.07));
    }
  }
  goals.push_back(at_most("sources left out: mean of the dense medians of the time",
                          mean_of_dense_medians(unseen),
                          0.075));
  goals.push_back(
      {"sources left out: share of records in the 80 % band", band_coverage(unseen), 0.7, 0.9});
  goals.push_back(at_most("memory: mean of the medians", mean_of_memory_medians(seen), 0.04));
  goals.push_back(at_most(
      "memory, sources left out: mean of the medians", mean_of_memory_medians(unseen), 0.1));
  int missed = 0;
  int alarms = 0;
  int fitting = 0;
  for (const SourceAccuracy& source : seen.sources) {
    missed += source.oom_wrong - source.fits_called_oom;
    alarms += source.fits_called_oom;
    fitting += source.fitting;
  }
  goals.push_back(at_most("runs out of memory that are called fitting", missed, 1));
  goals.push_back(at_most("runs that fit and are called out of memory, share",
                          fitting > 0 ? static_cast<double>(alarms) / fitting : 0,
                          0.05));
  return goals;
}

}  // namespace stagewright
