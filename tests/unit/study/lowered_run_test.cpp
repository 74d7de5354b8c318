// The runs of published records as plans.

#include "study/lowered_run.h"

#include <string>

#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "core/cluster/cluster.h"
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
    experts =
        experts || row.price == "closed form: an expert that every token visits cannot be lowered";
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

/// A model of LLaMA's kind (8 billion parameters) without a pipeline, on one of two machines.
TrainingSetup llama(const char* device, const char* framework) {
  const DataFiles files = DataFiles::embedded();
  TrainingSetup setup;
  setup.framework = find_framework(files, framework).value();
  setup.device = find_device(files, device).value();
  setup.intra_node = setup.device.intra_node;
  setup.inter_node = setup.device.inter_node;
  TrainingRun& run = setup.run;
  run.shape = {.layers = 32,
               .hidden = 4096,
               .heads = 32,
               .kv_heads = 8,
               .head_dim = 128,
               .feed_forward = 14336,
               .vocabulary = 128256,
               .norm = OpVariant::kRmsNorm,
               .activation = OpVariant::kSwiGlu,
               .learned_positions = false,
               .biases = false,
               .qkv_bias = false,
               .tied_embeddings = false};
  run.sequence = 8192;
  run.dp = 8;
  run.micro_batches = 4;
  run.zero_stage = 1;
  return setup;
}

double lowered_over_closed(const TrainingSetup& setup) {
  const StepConstants constants = load_step_constants(DataFiles::embedded()).value();
  const auto time = static_step_time(setup, constants);
  EXPECT_TRUE(time) << time.error().to_string();
  return time ? to_seconds(*time) / step_time(setup, constants).seconds : 0;
}

// Products in few bits, the output layer in 16.
TEST(LoweredRun, FewBitsCostWhatTheClosedFormSays) {
  for (const char* framework : {"megatron", "generic"}) {
    for (const MatrixFormat format :
         {MatrixFormat::kFloat8, MatrixFormat::kFloat8Blocks, MatrixFormat::kFloat4}) {
      for (const char* device : {"h100-80gb-sxm", "gb200-186gb"}) {
        TrainingSetup setup = llama(device, framework);
        setup.run.format = format;
        EXPECT_NEAR(lowered_over_closed(setup), 1, 0.02)
            << framework << ", " << device << ", format " << static_cast<int>(format);
      }
    }
  }
}

// A ring's shifts lie under its blocks of attention; the list has what it copies and adds on top.
TEST(LoweredRun, DividedSequencesCostWhatTheClosedFormSays) {
  for (const char* framework : {"megatron", "torchtitan"}) {
    for (const std::int32_t cp : {2, 8}) {
      for (const std::int32_t tp : {1, 4}) {
        TrainingSetup setup = llama("h100-80gb-sxm", framework);
        setup.run.cp = cp;
        setup.run.tp = tp;
        setup.run.dp = 2;
        setup.run.sequence *= cp;
        EXPECT_NEAR(lowered_over_closed(setup), 1, 0.05)
            << framework << ", cp " << cp << ", tp " << tp;
      }
    }
  }
}

TEST(LoweredRun, ExpertsCostWhatTheClosedFormSays) {
  for (const char* framework : {"megatron", "generic"}) {
    for (const std::int32_t ep : {1, 16}) {
      for (const std::int64_t experts : {16, 128}) {
        TrainingSetup setup = llama("h100-80gb-sxm", framework);
        setup.run.experts = ExpertShape{.experts = experts, .per_token = 4, .feed_forward = 2048};
        setup.run.dp = 16;
        setup.run.ep = ep;
        setup.run.sequence = 4096;
        EXPECT_NEAR(lowered_over_closed(setup), 1, 0.05)
            << framework << ", ep " << ep << ", experts " << experts;
      }
    }
  }
}

}  // namespace
}  // namespace stagewright
