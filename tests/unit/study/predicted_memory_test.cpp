#include "study/predicted_memory.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "shipped_report.h"
#include "study/fit_memory.h"
#include "study/record_setup.h"

namespace stagewright {
namespace {

struct Verdicts {
  std::map<std::string, std::vector<double>> errors;  ///< by source
  std::vector<std::string> missed;                    ///< out of memory, but called fitting
  int found = 0;
  int alarms = 0;  ///< ran, but called not fitting
  int ran = 0;
};

Verdicts judge(const std::vector<RecordLine>& records, const MemoryConstants& constants) {
  const DataFiles files = DataFiles::embedded();
  RecordSetups setups(files);
  Verdicts verdicts;
  for (const RecordLine& line : records) {
    if (!line.record || (!line.record->memory_bytes && !line.record->out_of_memory)) {
      continue;
    }
    const auto setup = setups.setup_of(*line.record);
    if (!setup) {
      ADD_FAILURE() << setup.error().to_string();
      continue;
    }
    const MemoryPrediction prediction = predict_memory(*line.record, *setup, constants);
    if (line.record->out_of_memory) {
      verdicts.found += prediction.fits ? 0 : 1;
      if (prediction.fits) {
        verdicts.missed.push_back(line.id);
      }
      continue;
    }
    ++verdicts.ran;
    verdicts.alarms += prediction.fits ? 0 : 1;
    verdicts.errors[line.dataset].push_back(
        std::abs(prediction.bytes / *line.record->memory_bytes - 1));
  }
  return verdicts;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

TEST(PredictedMemory, OfPublishedRunsIsWithinTheStatedErrors) {
  const auto constants = load_memory_constants(DataFiles::embedded());
  ASSERT_TRUE(constants.has_value());
  const Verdicts verdicts = judge(published(), *constants);
  double sum = 0;
  for (const auto& [source, errors] : verdicts.errors) {
    const double error = median(errors);
    EXPECT_LE(error, 0.08) << source;
    sum += error;
  }
  ASSERT_GE(verdicts.errors.size(), 6U);
  EXPECT_LE(sum / static_cast<double>(verdicts.errors.size()), 0.04);
}

// The one that is missed is doubtful: its neighbours in the same table ran (docs/memory.md).
TEST(PredictedMemory, CallsRunsThatEndedOutOfMemoryNotFittingAndThoseThatRanFitting) {
  const auto constants = load_memory_constants(DataFiles::embedded());
  ASSERT_TRUE(constants.has_value());
  const Verdicts verdicts = judge(published(), *constants);
  EXPECT_EQ(verdicts.found, 6);
  for (const std::string& id : verdicts.missed) {
    EXPECT_NE(id.find("206B"), std::string::npos) << id;
  }
  EXPECT_GT(verdicts.ran, 400);
  EXPECT_LE(verdicts.alarms, verdicts.ran / 20);
}

TEST(FitMemory, FindsTheReserveThatMadeTheFigures) {
  std::vector<RecordLine> records;
  const DataFiles files = DataFiles::embedded();
  RecordSetups setups(files);
  MemoryConstants truth = prior_memory_constants();
  truth[MemoryConstant::kStaticReserve] = 1.05;
  truth[MemoryConstant::kCachingReserve] = 1.2;
  for (RecordLine& line : published()) {
    if (line.dataset != "vocab_parallel" || !line.record) {
      continue;
    }
    const auto setup = setups.setup_of(*line.record);
    ASSERT_TRUE(setup.has_value());
    line.record->memory_bytes = predict_memory(*line.record, *setup, truth).bytes;
    records.push_back(line);
  }
  ASSERT_FALSE(records.empty());
  const MemoryFit fit = fit_memory(files, records, {});
  EXPECT_LT(fit.loss, 0.005);
  EXPECT_NEAR(fit.constants[MemoryConstant::kCachingReserve], 1.2, 0.03);
  EXPECT_EQ(fit.records, static_cast<int>(records.size()));
  // What no record reaches stays at its prior.
  EXPECT_NEAR(fit.constants[MemoryConstant::kFragmentingReserve],
              prior_memory_constants()[MemoryConstant::kFragmentingReserve],
              0.01);
  EXPECT_EQ(fit_memory(files, records, {"vocab_parallel"}).constants,
            fit_memory(files, {}, {}).constants);
}

}  // namespace
}  // namespace stagewright
