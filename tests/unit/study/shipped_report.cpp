#include "shipped_report.h"

#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "study/validate.h"
#include "tests/support/published_runs.h"

namespace stagewright {

std::vector<RecordLine> published() {
  return parse_measured_records(published_runs());
}

AccuracyReport shipped(const std::vector<RecordLine>& records) {
  const DataFiles files = DataFiles::embedded();
  auto report =
      validate(files, records, *load_step_constants(files), *load_memory_constants(files));
  EXPECT_TRUE(report) << report.error().to_string();
  return report ? *std::move(report) : AccuracyReport{};
}

std::vector<double> errors(const AccuracyReport& report, const std::string& source) {
  std::vector<double> result;
  for (const AccuracyRow& row : report.rows) {
    if (row.dataset == source && !row.experts && is_timed(row)) {
      result.push_back(std::abs(*row.predicted_seconds / *row.measured_seconds - 1));
    }
  }
  return result;
}

}  // namespace stagewright
