#include "study/validate.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "sim/step/step_time.h"
#include "study/calibrate.h"
#include "study/record_setup.h"

namespace stagewright {
namespace {

/// Published runs with their sources, an eighth of the single-node ones.
std::vector<RecordLine> published() {
  const auto text = read_file(STAGEWRIGHT_TEST_DATA "/measured_runs.jsonl");
  EXPECT_TRUE(text) << text.error().to_string();
  return text ? parse_measured_records(*text) : std::vector<RecordLine>{};
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values.at(half) : (values.at(half - 1) + values.at(half)) / 2;
}

std::vector<double> errors(const AccuracyReport& report, const std::string& source, bool experts) {
  std::vector<double> result;
  for (const AccuracyRow& row : report.rows) {
    if (row.dataset == source && row.experts == experts && row.predicted_seconds &&
        row.measured_seconds && row.time_skipped.empty()) {
      result.push_back(std::abs(*row.predicted_seconds / *row.measured_seconds - 1));
    }
  }
  return result;
}

TEST(Validate, PublishedRunsArePredictedWithinTheStatedErrors) {
  const DataFiles files = DataFiles::embedded();
  const auto report = validate(files, published(), *load_step_constants(files));
  ASSERT_TRUE(report) << report.error().to_string();
  double sum = 0;
  const std::vector<std::string> dense{"vtrain_single",
                                       "megatron_sc21",
                                       "megatron_readme",
                                       "korthikanti2022",
                                       "llm_foundry",
                                       "torchtitan",
                                       "bloom_prequel",
                                       "internevo",
                                       "vocab_parallel",
                                       "nemo_perf",
                                       "nemo_launcher",
                                       "nanotron",
                                       "megatron_bridge"};
  for (const std::string& source : dense) {
    const double error = median(errors(*report, source, false));
    EXPECT_LE(error, 0.08) << source;
    sum += error;
  }
  EXPECT_LE(sum / static_cast<double>(dense.size()), 0.05);
  EXPECT_LE(median(errors(*report, "megatron_bridge", true)), 0.15);
}

TEST(Validate, NamesARecordThatItCannotPredict) {
  const DataFiles files = DataFiles::embedded();
  std::vector<RecordLine> lines = published();
  lines.resize(1);
  ASSERT_TRUE(lines.front().record) << lines.front().skipped;
  lines.front().record->device = "Z9000";
  const auto report = validate(files, lines, *load_step_constants(files));
  ASSERT_TRUE(report);
  EXPECT_NE(report->rows.front().skipped.find("'Z9000' is not a known device type"),
            std::string::npos)
      << report->rows.front().skipped;
  EXPECT_EQ(report->sources.front().skipped, 1);
}

// Times written by the model itself with other constants lead back to those constants.
TEST(Calibrate, FindsTheConstantsThatMadeTheTimes) {
  const DataFiles files = DataFiles::embedded();
  std::vector<RecordLine> lines = published();
  std::erase_if(lines, [](const RecordLine& line) {
    return line.dataset != "llm_foundry" && line.dataset != "nanotron";
  });
  StepConstants truth = *load_step_constants(files);
  truth.architectures["ampere"].matrix = 0.7;
  truth.matrix_factors["fsdp"] = 0.9;
  RecordSetups setups(files);
  for (RecordLine& line : lines) {
    if (line.record) {
      line.record->iteration_seconds = step_time(*setups.setup_of(*line.record), truth).seconds;
    }
  }
  const auto calibration = calibrate(files, lines, {});
  ASSERT_TRUE(calibration) << calibration.error().to_string();
  const auto report = validate(files, lines, calibration->constants);
  ASSERT_TRUE(report);
  EXPECT_LT(median(errors(*report, "llm_foundry", false)), 0.01);
  EXPECT_LT(median(errors(*report, "nanotron", false)), 0.01);
}

TEST(Calibrate, SaysWhatItNeeds) {
  const auto calibration = calibrate(DataFiles::embedded(), {}, {});
  ASSERT_FALSE(calibration);
  EXPECT_NE(calibration.error().message.find("no record can be used"), std::string::npos);
}

TEST(RecordSetups, ReadsTheClusterFromTheRecordsWords) {
  MeasuredRecord record;
  record.device = "A100-80GB-SXM";
  record.framework = "nobody's";
  record.inter_link = "4x100 Gb/s Omni-Path per node";
  const DataFiles files = DataFiles::embedded();
  RecordSetups setups(files);
  const auto setup = setups.setup_of(record);
  ASSERT_TRUE(setup) << setup.error().to_string();
  EXPECT_EQ(setup->inter_node.bandwidth, BytesPerSecond(12.5e9));
  EXPECT_EQ(setup->inter_node.devices_per_port, 2);
  EXPECT_EQ(setup->framework.name, "generic");
  record.intra_link = "NVLink5 NVL72 domain";
  record.inter_link = "1600 Gb/s RoCE per node";
  const auto other = setups.setup_of(record);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->domain, 72);
  EXPECT_EQ(other->inter_node.bandwidth, BytesPerSecond(25e9));
}

TEST(RecordSetups, KnowsDevicesByTheWordsOfTheirNames) {
  const DataFiles files = DataFiles::embedded();
  RecordSetups setups(files);
  const auto device = [&](const std::string& words) {
    MeasuredRecord record;
    record.device = words;
    const auto setup = setups.setup_of(record);
    return setup ? setup->device.name : setup.error().message;
  };
  EXPECT_EQ(device("NVIDIA H100 80GB SXM5"), "h100-80gb-sxm");
  EXPECT_EQ(device("A100-SXM4-40GB"), "a100-40gb-sxm");
  EXPECT_EQ(device("h100_sxm"), "h100-80gb-sxm");
  EXPECT_EQ(device("GB200"), "gb200-186gb");
}

TEST(AccuracyReport, CountsWhatTheRowsSay) {
  std::vector<AccuracyRow> rows;
  for (const auto& [predicted, measured] :
       {std::pair{1.0, 1.0}, std::pair{1.1, 1.0}, std::pair{3.0, 2.0}}) {
    rows.push_back({.id = "r" + std::to_string(rows.size()),
                    .dataset = "lab",
                    .group = "one",
                    .configuration = std::to_string(rows.size()),
                    .predicted_seconds = predicted,
                    .measured_seconds = measured,
                    .deviation = 0.1});
  }
  rows.push_back({.id = "r3", .dataset = "lab", .skipped = "plan.tp: is not stated"});
  const AccuracyReport report = summarize(rows);
  ASSERT_EQ(report.sources.size(), 1U);
  const SourceAccuracy& source = report.sources.front();
  EXPECT_EQ(source.records, 4);
  EXPECT_EQ(source.skipped, 1);
  EXPECT_NEAR(*source.time_median_ape, 0.1, 1e-12);
  EXPECT_NEAR(*source.time_mean_ape, 0.2, 1e-12);
  EXPECT_NEAR(*source.band_coverage, 2.0 / 3, 1e-12);
  ASSERT_EQ(source.groups.size(), 1U);
  EXPECT_EQ(source.groups.front().records, 3);
  EXPECT_NEAR(source.groups.front().regret, 0, 1e-12);
  EXPECT_EQ(worst_rows(report, 1).front()->id, "r2");
}

}  // namespace
}  // namespace stagewright
