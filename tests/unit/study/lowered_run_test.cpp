// The runs of published records as plans.

#include "study/lowered_run.h"

#include <string>

#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "sim/cost/run_choices.h"
#include "sim/memory/memory_constants.h"
#include "sim/step/step_time.h"
#include "study/record_setup.h"
#include "study/validate.h"
#include "tests/support/published_runs.h"

namespace stagewright {
namespace {

std::vector<RecordLine> records_of(const std::string& dataset) {
  std::vector<RecordLine> records;
  for (RecordLine& line : parse_measured_records(published_runs())) {
    if (line.record && line.dataset == dataset) {
      records.push_back(std::move(line));
    }
  }
  return records;
}

// Megatron-LM's table of 2021: plans with and without pipelines, interleaved ones too.
TEST(LoweredRun, PublishedPlansCostWhatTheClosedFormSays) {
  const DataFiles files = DataFiles::embedded();
  const StepConstants constants = load_step_constants(files).value();
  RecordSetups setups(files);
  const auto records = records_of("megatron_sc21");
  ASSERT_FALSE(records.empty());
  for (const RecordLine& line : records) {
    const TrainingSetup setup = setups.setup_of(*line.record).value();
    const auto time = static_step_time(setup, constants);
    ASSERT_TRUE(time) << line.id << ": " << time.error().to_string();
    EXPECT_NEAR(to_seconds(*time) / step_time(setup, constants).seconds, 1, 0.03) << line.id;
  }
}

// Megatron's "block": between none and all, and as the closed form has it.
TEST(LoweredRun, RecomputationOfSomeLayersCostsWhatTheClosedFormSays) {
  const DataFiles files = DataFiles::embedded();
  const StepConstants constants = load_step_constants(files).value();
  RecordSetups setups(files);
  MeasuredRecord record = *records_of("megatron_sc21").front().record;
  record.run.recompute = Recompute::kFull;
  const double all = to_seconds(*static_step_time(setups.setup_of(record).value(), constants));
  const auto stages = record.run.pp * record.run.virtual_stages;
  record.run.recomputed.block = static_cast<std::int32_t>(record.run.shape.layers / stages / 2);
  ASSERT_GE(record.run.recomputed.block, 1);
  const TrainingSetup half = setups.setup_of(record).value();
  const double some = to_seconds(*static_step_time(half, constants));
  EXPECT_NEAR(some / step_time(half, constants).seconds, 1, 0.03);
  record.run.recompute = Recompute::kNone;
  const double none = to_seconds(*static_step_time(setups.setup_of(record).value(), constants));
  EXPECT_LT(none, some);
  EXPECT_LT(some, all);
  record.run.recompute = Recompute::kFull;
  record.run.recomputed = {.checkpoint = 2};
  EXPECT_FALSE(static_step_time(setups.setup_of(record).value(), constants));
}

// FSDP on up to 512 devices: parameters come and gradients go layer by layer.
TEST(LoweredRun, ParametersGatheredByLayerCostWhatTheClosedFormSays) {
  const DataFiles files = DataFiles::embedded();
  const StepConstants constants = load_step_constants(files).value();
  RecordSetups setups(files);
  int sharded = 0;
  for (const RecordLine& line : records_of("llm_foundry")) {
    const TrainingSetup setup = setups.setup_of(*line.record).value();
    if (setup.run.zero_stage != 3) {
      continue;
    }
    const auto lowered = lowered_run(setup, constants);
    if (!lowered) {
      EXPECT_NE(lowered.error().message.find("8-bit"), std::string::npos) << line.id;
      continue;
    }
    ++sharded;
    EXPECT_EQ(lowered->plan.zero_stage, 3);
    const double time = to_seconds(static_step_time(setup, constants).value());
    EXPECT_NEAR(time / step_time(setup, constants).seconds, 1, 0.03) << line.id;
  }
  EXPECT_GT(sharded, 10);
}

// Norms and residual sums divided along the sequence, on 8 to 512 devices.
TEST(LoweredRun, SequenceParallelRunsCostWhatTheClosedFormSays) {
  const DataFiles files = DataFiles::embedded();
  const StepConstants constants = load_step_constants(files).value();
  RecordSetups setups(files);
  int divided = 0;
  for (const char* const dataset : {"nanotron", "korthikanti2022"}) {
    for (const RecordLine& line : records_of(dataset)) {
      const TrainingSetup setup = setups.setup_of(*line.record).value();
      if (!choices_of(setup).sequence_parallel) {
        continue;
      }
      ++divided;
      EXPECT_TRUE(lowered_run(setup, constants).value().plan.sequence_parallel) << line.id;
      const double time = to_seconds(static_step_time(setup, constants).value());
      EXPECT_NEAR(time / step_time(setup, constants).seconds, 1, 0.03) << line.id;
    }
  }
  EXPECT_GT(divided, 10);
}

TEST(LoweredRun, SaysWhyARunKeepsTheClosedForm) {
  const DataFiles files = DataFiles::embedded();
  const auto report = validate(files,
                               records_of("megatron_bridge"),
                               load_step_constants(files).value(),
                               load_memory_constants(files).value());
  ASSERT_TRUE(report);
  bool experts = false;
  for (const AccuracyRow& row : report->rows) {
    experts = experts || row.price == "closed form: a model with experts cannot be lowered";
  }
  EXPECT_TRUE(experts);
}

TEST(LoweredRun, AModelWithAnEncoderIsPricedInClosedForm) {
  const DataFiles files = DataFiles::embedded();
  auto records = records_of("megatron_sc21");
  records.resize(1);
  records.front().record->run.encoder = EncoderShape{.layers = 24, .sequence = 512};
  const auto report = validate(
      files, records, load_step_constants(files).value(), load_memory_constants(files).value());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->rows.front().price, "closed form: an encoder cannot be lowered");
  EXPECT_GT(report->rows.front().predicted_seconds.value_or(0), 0);
}

}  // namespace
}  // namespace stagewright
