#include "study/validate.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "shipped_report.h"
#include "sim/step/step_time.h"
#include "study/calibrate.h"
#include "study/leave_one_out.h"
#include "study/record_setup.h"
#include "study/statistics.h"
#include "tests/support/published_runs.h"

namespace stagewright {
namespace {

TEST(Validate, CountsWhatItSkipsAsItsRowsDo) {
  std::vector<RecordLine> lines = parse_measured_records(some_published_runs(8));
  lines.push_back(
      {.id = "odd", .dataset = "lab", .record = {}, .skipped = "plan.tp: is not stated"});
  const AccuracyReport report = shipped(lines);
  const auto json = nlohmann::json::parse(to_json_text(report));
  std::map<std::string, int> skipped;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const auto& row = json["rows"][i];
    skipped[report.rows[i].dataset] += row["skipped"].is_null() ? 0 : 1;
    // A time counts exactly where both figures are there and nothing says that it is skipped.
    EXPECT_EQ(is_timed(report.rows[i]), !row["predicted_s"].is_null()) << row["id"];
  }
  for (const auto& source : json["sources"]) {
    EXPECT_EQ(source["skipped"].get<int>(), skipped[source["name"].get<std::string>()])
        << source["name"];
  }
}

TEST(Validate, NamesARecordThatItCannotPredict) {
  std::vector<RecordLine> lines = published();
  lines.resize(1);
  ASSERT_TRUE(lines.front().record) << lines.front().skipped;
  lines.front().record->device = "Z9000";
  const AccuracyReport report = shipped(lines);
  EXPECT_TRUE(report.rows.front().skipped.starts_with("cluster.gpu: 'Z9000' is not a known"))
      << report.rows.front().skipped;
  EXPECT_EQ(report.sources.front().skipped, 1);
}

/// The first record of a source, changed.
AccuracyRow row_of(const std::string& source, const std::function<void(MeasuredRecord&)>& change) {
  std::vector<RecordLine> lines = published();
  std::erase_if(lines, [&](const RecordLine& line) {
    return line.dataset != source || !line.record || !line.record->iteration_seconds;
  });
  lines.resize(1);
  change(*lines.front().record);
  return shipped(lines).rows.front();
}

TEST(Validate, NamesFiguresThatTheDeviceCannotHaveHad) {
  const AccuracyRow fast = row_of("internevo", [](auto& r) { r.iteration_seconds = 1e-6; });
  EXPECT_TRUE(fast.skipped.starts_with("measured.iter_time_s: ")) << fast.skipped;
  const AccuracyRow slow = row_of("internevo", [](auto& r) { r.iteration_seconds = 9e5; });
  EXPECT_TRUE(slow.skipped.starts_with("measured.iter_time_s: ")) << slow.skipped;
  const AccuracyRow large = row_of("nanotron", [](auto& r) { r.memory_bytes = 5e11; });
  EXPECT_TRUE(large.skipped.starts_with("measured.memory_gb: ")) << large.skipped;
  const AccuracyRow small = row_of("nanotron", [](auto& r) { r.memory_bytes = 1e6; });
  EXPECT_TRUE(small.skipped.starts_with("measured.memory_gb: ")) << small.skipped;
  const AccuracyRow dark =
      row_of("internevo", [](auto& r) { r.inter_link = "0 Gb/s Ethernet per node"; });
  EXPECT_TRUE(dark.skipped.starts_with("cluster.inter_link: ")) << dark.skipped;
  const AccuracyRow many =
      row_of("internevo", [](auto& r) { r.intra_link = "NVL99999999999999999999"; });
  EXPECT_TRUE(many.skipped.empty()) << many.skipped;
}

TEST(Validate, SaysWhatItTakesThatTheRecordDoesNotSay) {
  const AccuracyRow row = row_of("internevo", [](auto& r) { r.framework = "abc"; });
  EXPECT_TRUE(row.skipped.empty()) << row.skipped;
  EXPECT_NE(std::ranges::find(row.assumed, "framework ('abc' is unknown: generic)"),
            row.assumed.end());
  const AccuracyRow unknown = row_of("megatron_sc21", [](auto& r) {
    r.micro_batch_unknown = true;
    r.run.micro_batches *= r.run.micro_batch;
    r.run.micro_batch = 1;
  });
  EXPECT_TRUE(std::ranges::any_of(unknown.assumed, [](const std::string& assumption) {
    return assumption.starts_with("plan.micro_batch (");
  }));
}

// The list times what the closed form has no term for; where there is no list, nothing does.
TEST(Validate, TimesOrdersWithoutABubbleTermByTheirLists) {
  const auto pipeline = [](MeasuredRecord& r) {
    TrainingRun& run = r.run;
    run.dp = run.dp * run.tp / 2;
    run.tp = 2;
    run.pp = 4;
    run.dp /= run.pp;
    run.virtual_stages = 1;
    run.micro_batches = 8;
    run.micro_batch = 1;
    run.recompute = Recompute::kNone;
    run.schedule = "1f1b";
  };
  const AccuracyRow plain = row_of("megatron_sc21", pipeline);
  ASSERT_TRUE(plain.predicted_seconds) << not_judged(plain);
  for (const char* schedule : {"zb-h1", "zb-2p", "zero-bubble", "zb-v", "dualpipe-v"}) {
    const AccuracyRow row = row_of("megatron_sc21", [&](auto& r) {
      pipeline(r);
      r.run.schedule = schedule;
    });
    ASSERT_TRUE(row.predicted_seconds) << schedule << ": " << not_judged(row);
    EXPECT_EQ(row.price, "static pass") << schedule;
    EXPECT_LT(*row.predicted_seconds, *plain.predicted_seconds) << schedule;
    EXPECT_GT(*row.predicted_seconds, 0.7 * *plain.predicted_seconds) << schedule;
  }
  const AccuracyRow none = row_of("internevo", [](auto& r) { r.run.schedule = "zb-h1"; });
  EXPECT_NE(not_judged(none).find("zb-h1"), std::string::npos) << not_judged(none);
  EXPECT_FALSE(none.predicted_seconds);
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
  const auto report = validate(files, lines, calibration->constants, *load_memory_constants(files));
  ASSERT_TRUE(report);
  EXPECT_LT(median(errors(*report, "llm_foundry")), 0.01);
  EXPECT_LT(median(errors(*report, "nanotron")), 0.01);
}

TEST(Calibrate, SaysWhatItNeeds) {
  const auto calibration = calibrate(DataFiles::embedded(), {}, {});
  ASSERT_FALSE(calibration);
  EXPECT_NE(calibration.error().message.find("no record can be used"), std::string::npos);
}

TEST(Calibrate, RefusesToLeaveOutWhatIsNotThere) {
  const auto calibration =
      calibrate(DataFiles::embedded(), published(), {.without = {"megatron_sc22"}});
  ASSERT_FALSE(calibration);
  EXPECT_NE(calibration.error().message.find("no record is of source 'megatron_sc22'"),
            std::string::npos);
  EXPECT_NE(calibration.error().message.find("megatron_sc21"), std::string::npos);
}

// By constants of the other sources; those of a source alone would be other rows.
TEST(LeaveOneOut, PredictsEverySourceByTheOthers) {
  std::vector<RecordLine> lines = parse_measured_records(some_published_runs(8));
  std::erase_if(lines, [](const RecordLine& line) {
    return line.dataset != "megatron_sc21" && line.dataset != "nemo_launcher" &&
           line.dataset != "nanotron";
  });
  const DataFiles files = DataFiles::embedded();
  const auto rows = leave_one_out(files, lines, load_step_constants(files)->band);
  ASSERT_TRUE(rows) << rows.error().to_string();
  ASSERT_EQ(rows->size(), lines.size());
  const auto calibration = calibrate(files, lines, {.without = {"nanotron"}});
  ASSERT_TRUE(calibration) << calibration.error().to_string();
  const auto report = validate(files, lines, calibration->constants, *load_memory_constants(files));
  ASSERT_TRUE(report) << report.error().to_string();
  int compared = 0;
  for (const AccuracyRow& row : *rows) {
    const auto same = std::ranges::find(report->rows, row.id, &AccuracyRow::id);
    ASSERT_NE(same, report->rows.end()) << row.id;
    if (row.dataset == "nanotron" && is_timed(row)) {
      EXPECT_EQ(row.predicted_seconds, same->predicted_seconds) << row.id;
      ++compared;
    }
  }
  EXPECT_GE(compared, 2);
}

TEST(RecordSetups, KnowsFrameworksByTheWordsOfTheirNames) {
  const DataFiles files = DataFiles::embedded();
  RecordSetups setups(files);
  const auto framework = [&](const std::string& words) {
    MeasuredRecord record;
    record.device = "A100-80GB-SXM";
    record.framework = words;
    return setups.setup_of(record)->framework.name;
  };
  EXPECT_EQ(framework("Megatron-LM"), "megatron-lm");
  EXPECT_EQ(framework("Megatron-Core 0.9"), "megatron");
  EXPECT_EQ(framework("NeMo 24.05"), "nemo");
  EXPECT_EQ(framework("DeepSpeed ZeRO-3"), "deepspeed");
  EXPECT_EQ(framework("PyTorch FSDP"), "fsdp");
  EXPECT_EQ(framework("torchtitan (eager)"), "torchtitan");
  EXPECT_EQ(framework("nemotron"), "generic");
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
  EXPECT_EQ(device("A100-80GB"), "a100-80gb-sxm");
  EXPECT_EQ(device("H100 SXM"), "h100-80gb-sxm");
  EXPECT_EQ(device("NVIDIA A100-SXM4-80GB"), "a100-80gb-sxm");
  EXPECT_EQ(device("H100 80GB HBM3"), "h100-80gb-sxm");
  EXPECT_EQ(device("A100 PCIe 80GB"), "a100-80gb-pcie");
  EXPECT_EQ(device("V100-SXM2-32GB"), "v100-32gb-sxm");
  EXPECT_EQ(device("NVIDIA H200"), "h200-141gb-sxm");
  EXPECT_NE(device("A100-95GB").find("not a known device"), std::string::npos);
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
