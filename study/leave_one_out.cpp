#include "study/leave_one_out.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "sim/step/step_time.h"
#include "study/calibrate.h"
#include "study/fit_memory.h"
#include "study/statistics.h"
#include "study/validate.h"

namespace stagewright {
namespace {

std::vector<std::string> sources_of(const std::vector<RecordLine>& records) {
  std::vector<std::string> names;
  for (const RecordLine& line : records) {
    if (!line.dataset.empty() && std::ranges::find(names, line.dataset) == names.end()) {
      names.push_back(line.dataset);
    }
  }
  return names;
}

bool has_time(const RecordLine& line) {
  return line.record && line.record->iteration_seconds;
}

bool has_memory(const RecordLine& line) {
  return line.record && (line.record->memory_bytes || line.record->out_of_memory);
}

Result<std::vector<AccuracyRow>> predict_unseen(const DataFiles& files,
                                                const std::vector<RecordLine>& records,
                                                const std::string& source) {
  std::vector<RecordLine> own;
  std::ranges::copy_if(records, std::back_inserter(own), [&](const RecordLine& line) {
    return line.dataset == source;
  });
  StepConstants constants = prior_step_constants();
  if (std::ranges::any_of(own, has_time)) {
    auto calibration = calibrate(files, records, {.without = {source}});
    if (!calibration) {
      return pass_on(std::move(calibration));
    }
    constants = std::move(calibration->constants);
  }
  MemoryConstants memory = prior_memory_constants();
  if (std::ranges::any_of(own, has_memory)) {
    memory = fit_memory(files, records, {source}).constants;
  }
  auto report = validate(files, own, constants, memory);
  if (!report) {
    return pass_on(std::move(report));
  }
  return std::move(report->rows);
}

StepTime step_of(const AccuracyRow& row) {
  return {.seconds = row.predicted_seconds.value_or(1), .terms = row.terms};
}

/// Shares that a band is a linear function of, with the error.
struct Point {
  std::array<double, 5> shares{};
  double error = 0;
  std::size_t source = 0;
};

std::vector<Point> points_of(const std::vector<AccuracyRow>& rows, std::size_t& sources) {
  constexpr std::array<StepBand, 5> kUnits{
      {{1, 0, 0, 0, 0}, {0, 1, 0, 0, 0}, {0, 0, 1, 0, 0}, {0, 0, 0, 1, 0}, {0, 0, 0, 0, 1}}};
  std::map<std::string, std::size_t> known;
  std::vector<Point> points;
  for (const AccuracyRow& row : rows) {
    if (!is_timed(row)) {
      continue;
    }
    const std::string name = row.dataset + (row.experts ? " (experts)" : "");
    Point point{.error = std::abs(std::log(*row.predicted_seconds / *row.measured_seconds)),
                .source = known.emplace(name, known.size()).first->second};
    for (std::size_t i = 0; i < kUnits.size(); ++i) {
      point.shares.at(i) = step_deviation(step_of(row), kUnits.at(i));
    }
    points.push_back(point);
  }
  sources = known.size();
  return points;
}

/// Distance of the coverage from 80 %: of all records, and of each source.
double miss(const std::vector<Point>& points,
            std::size_t sources,
            const std::array<double, 5>& weights) {
  std::vector<double> covered(sources);
  std::vector<double> counts(sources);
  double all = 0;
  for (const Point& point : points) {
    double deviation = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      deviation += weights.at(i) * point.shares.at(i);
    }
    const double inside = point.error <= kBandHalfWidth * deviation ? 1 : 0;
    covered[point.source] += inside;
    counts[point.source] += 1;
    all += inside;
  }
  double sum = 0;
  for (std::size_t s = 0; s < sources; ++s) {
    sum += std::abs(covered[s] / counts[s] - 0.8);
  }
  return sum / static_cast<double>(sources) +
         2 * std::abs(all / static_cast<double>(points.size()) - 0.8);
}

}  // namespace

Result<std::vector<AccuracyRow>> leave_one_out(const DataFiles& files,
                                               const std::vector<RecordLine>& records,
                                               const StepBand& band) {
  const std::vector<std::string> sources = sources_of(records);
  std::vector<std::optional<Result<std::vector<AccuracyRow>>>> parts(sources.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < sources.size(); i = next++) {
      parts[i] = predict_unseen(files, records, sources[i]);
    }
  };
  {
    std::vector<std::jthread> threads;
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    for (std::size_t i = 0; i < std::min(cores, sources.size()); ++i) {
      threads.emplace_back(work);
    }
  }
  std::vector<AccuracyRow> rows;
  for (auto& part : parts) {
    if (!*part) {
      return pass_on(std::move(*part));
    }
    std::ranges::move(**part, std::back_inserter(rows));
  }
  set_deviations(rows, band);
  return rows;
}

StepBand fit_band(const std::vector<AccuracyRow>& rows) {
  std::size_t sources = 0;
  const std::vector<Point> points = points_of(rows, sources);
  StepBand band;
  if (points.empty()) {
    return band;
  }
  // Few coefficients and a step function of them: a coarse grid finds what there is to find.
  double least = 1e9;
  for (const double base : {0.04, 0.05, 0.055, 0.06, 0.065, 0.07, 0.075, 0.08, 0.09}) {
    for (const double host : {0.0, 0.1, 0.2, 0.3}) {
      for (const double traffic : {0.0, 0.1, 0.2, 0.3}) {
        for (const double fixed : {0.0, 0.5, 1.0, 1.5, 2.0}) {
          for (const double experts : {0.0, 0.1, 0.2, 0.3}) {
            const double value = miss(points, sources, {base, host, traffic, fixed, experts});
            if (value < least) {
              least = value;
              band = {base, host, traffic, fixed, experts};
            }
          }
        }
      }
    }
  }
  return band;
}

void set_deviations(std::vector<AccuracyRow>& rows, const StepBand& band) {
  for (AccuracyRow& row : rows) {
    if (row.predicted_seconds) {
      row.deviation = step_deviation(step_of(row), band);
    }
  }
}

}  // namespace stagewright
