#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/accuracy_report.h"

namespace stagewright {

/// Errors of the times of a source's dense models, or of its models with experts.
struct TimeErrors {
  std::string source;
  bool experts = false;
  int records = 0;
  double median = 0;  ///< of |predicted / measured - 1|
  double mean = 0;
  double within_10pct = 0;
  double bias = 0;      ///< median of predicted / measured, - 1
  double coverage = 0;  ///< share in the 80 % band
  std::optional<double> noise_floor;
  bool ampere_or_hopper = false;  ///< most of its records ran on A100 or H100
};

/// Per source with a judged time; dense and expert models apart.
[[nodiscard]] std::vector<TimeErrors> time_errors(const AccuracyReport& report);

/// Mean over the sources with dense models of the median error.  REQUIRES: there is one.
[[nodiscard]] double mean_of_dense_medians(const AccuracyReport& report);
/// The same of the memory, over sources that measured it.
[[nodiscard]] double mean_of_memory_medians(const AccuracyReport& report);
/// Share of all judged times in the 80 % band.  REQUIRES: there is one.
[[nodiscard]] double band_coverage(const AccuracyReport& report);

/// A figure that the predictions are meant to reach.
struct AccuracyGoal {
  std::string name;
  double value = 0;
  double least = 0;  ///< met: least <= value <= most
  double most = 0;
  [[nodiscard]] bool met() const { return least <= value && value <= most; }
};

/// The goals of this project for published runs, in-sample (`seen`) and for sources that the
/// calibration has not seen: median error of the time at most 6 % (A100 and H100; or the source's
/// noise floor where that is higher), 8 % (other devices), 15 % (experts); mean of the left-out
/// medians 7.5 %; of memory 4 % and 10 %; the 80 % band holds 70 to 90 % of left-out records; at
/// most 5 % of the runs that fit are called out of memory, and every one that did not fit is, but
/// for one.
[[nodiscard]] std::vector<AccuracyGoal> accuracy_goals(const AccuracyReport& seen,
                                                       const AccuracyReport& unseen);

}  // namespace stagewright
