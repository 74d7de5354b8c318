#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/step/step_time.h"

namespace stagewright {

/// One record of the file, predicted or skipped.
struct AccuracyRow {
  std::string id;
  std::string dataset;
  std::string device;         ///< as the record names it
  std::string group;          ///< records of one model, device count and batch compete: equal keys
  std::string configuration;  ///< equal for repeated measurements of one and the same run
  bool experts = false;
  std::optional<double> predicted_seconds;
  std::optional<double> measured_seconds;
  std::optional<double> predicted_bytes;
  std::optional<double> measured_bytes;
  bool out_of_memory = false;  ///< measured
  std::optional<bool> predicted_fits;
  double deviation = 0;  ///< of the logarithm: the band is +- 1.2816 of it (80 %)
  std::array<double, kStepTermCount> terms{};
  std::string price;                 ///< "static pass", or "closed form: " and why not that
  std::string skipped;               ///< why nothing of the record is judged
  std::string time_skipped;          ///< why its time is not judged although its memory is
  std::vector<std::string> assumed;  ///< what the prediction takes that the record does not say
};

/// Whether the row's time counts in the errors: measured, predicted and not doubted.
[[nodiscard]] bool is_timed(const AccuracyRow& row);

/// Predicted to measured time.  REQUIRES: is_timed(row).
[[nodiscard]] double ratio(const AccuracyRow& row);

/// Why the row is not judged: the reason, "time: ..." where only its time is left out, or nothing.
[[nodiscard]] std::string not_judged(const AccuracyRow& row);

/// Plans of one model that compete on equal devices and batch.
struct PlanGroup {
  std::string key;
  int records = 0;
  double spearman = 0;  ///< rank correlation of predicted and measured times
  double regret = 0;    ///< measured time of the plan predicted best over the best measured, - 1
};

/// Errors are fractions: |predicted / measured - 1|.
struct SourceAccuracy {
  std::string name;
  int records = 0;       ///< lines of this source
  int skipped = 0;       ///< lines that are not judged, or only their memory
  int time_skipped = 0;  ///< of `skipped`: those whose memory is judged
  int time_records = 0;
  std::optional<double> time_median_ape;
  std::optional<double> time_mean_ape;
  std::optional<double> time_within_10pct;
  std::optional<double> time_bias;  ///< median of predicted / measured, - 1
  int memory_records = 0;
  std::optional<double> memory_median_ape;
  int oom_right = 0;        ///< out of memory, and predicted so
  int oom_wrong = 0;        ///< out of memory predicted to fit, and fitting ones predicted not to
  int fits_called_oom = 0;  ///< of `oom_wrong`: fitting ones predicted not to
  int fitting = 0;          ///< records with a memory verdict that ran
  std::optional<double> band_coverage;
  std::optional<double> noise_floor;  ///< median spread of repeated configurations
  std::vector<PlanGroup> groups;
};

struct AccuracyReport {
  std::vector<SourceAccuracy> sources;
  std::vector<AccuracyRow> rows;
};

/// Per source, in order of first appearance; sources that hold dense and expert models stay one.
[[nodiscard]] AccuracyReport summarize(std::vector<AccuracyRow> rows);

/// The object that `stagewright validate --json` prints.
[[nodiscard]] std::string to_json_text(const AccuracyReport& report);

/// What predictions take that records do not say, with how many records; most frequent first.
[[nodiscard]] std::vector<std::pair<std::string, int>> assumption_counts(
    const AccuracyReport& report);

/// "products 43, host 20": shares of the predicted time in percent, largest first.
[[nodiscard]] std::string largest_terms(const AccuracyRow& row, std::size_t count);

/// Rows by error of the time, largest first.
[[nodiscard]] std::vector<const AccuracyRow*> worst_rows(const AccuracyReport& report,
                                                         std::size_t count);

}  // namespace stagewright
