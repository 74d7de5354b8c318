#include "study/cluster_calibration.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/cluster/cluster.h"
#include "core/schedule/cost_key.h"
#include "sim/cost/analytical_links.h"
#include "sim/cost/calibrated_cost.h"
#include "sim/step/step_time.h"
#include "study/record_setup.h"
#include "study/statistics.h"
#include "study/step_parameters.h"

namespace stagewright {
namespace {

/// A logged step of a 7B model on H100 nodes, timed by `truth`.
struct Config {
  std::int32_t nodes;
  std::int32_t tp;
  std::int32_t pp;
  std::int32_t micro_batches;
};

RecordLine logged(const Config& config, const StepConstants& truth) {
  MeasuredRecord record;
  record.id = "step";
  record.dataset = "own";
  record.quality = "A";
  record.framework = "megatron";
  record.device = "H100-80GB-SXM";
  TrainingRun& run = record.run;
  run.shape.layers = 32;
  run.shape.hidden = 4096;
  run.shape.heads = 32;
  run.shape.kv_heads = 32;
  run.shape.head_dim = 128;
  run.shape.feed_forward = 11008;
  run.shape.activation = OpVariant::kSwiGlu;
  run.shape.norm = OpVariant::kRmsNorm;
  run.shape.vocabulary = 32000;
  run.shape.learned_positions = false;
  run.sequence = 4096;
  run.tp = config.tp;
  run.pp = config.pp;
  run.dp = config.nodes * 8 / (config.tp * config.pp);
  run.micro_batches = config.micro_batches;
  run.zero_stage = 1;
  const DataFiles files = DataFiles::embedded();
  RecordSetups setups(files);
  record.iteration_seconds = step_time(*setups.setup_of(record), truth).seconds;
  return {.id = record.id, .dataset = record.dataset, .record = record, .skipped = {}};
}

double worst_error(const std::vector<RecordLine>& lines, const StepConstants& constants) {
  const DataFiles files = DataFiles::embedded();
  RecordSetups setups(files);
  double worst = 0;
  for (const RecordLine& line : lines) {
    const double predicted = step_time(*setups.setup_of(*line.record), constants).seconds;
    worst = std::max(worst, std::abs(predicted / *line.record->iteration_seconds - 1));
  }
  return worst;
}

/// A cluster with a congested network, slower chips and stragglers.
StepConstants slow_cluster() {
  StepConstants truth = *load_step_constants(DataFiles::embedded());
  truth.values[static_cast<std::size_t>(StepConstant::kNicShare)] *= 0.5;
  truth.values[static_cast<std::size_t>(StepConstant::kStraggle)] = 0.015;
  truth.architectures["hopper"].matrix *= 0.85;
  return truth;
}

TEST(ClusterCalibration, AFewLoggedStepsMakeUnseenConfigurationsRight) {
  const StepConstants truth = slow_cluster();
  std::vector<RecordLine> steps;
  for (const Config& config : std::vector<Config>{{1, 1, 1, 2},
                                                  {2, 1, 1, 4},
                                                  {4, 1, 1, 1},
                                                  {8, 2, 1, 2},
                                                  {8, 4, 2, 8},
                                                  {16, 1, 1, 1},
                                                  {16, 2, 1, 4},
                                                  {16, 8, 2, 8}}) {
    steps.push_back(logged(config, truth));
  }
  std::vector<RecordLine> unseen;
  for (const Config& config : std::vector<Config>{{1, 2, 1, 4},
                                                  {4, 2, 2, 8},
                                                  {8, 1, 1, 2},
                                                  {32, 2, 1, 1},
                                                  {32, 4, 4, 16},
                                                  {64, 1, 1, 2}}) {
    unseen.push_back(logged(config, truth));
  }
  const DataFiles files = DataFiles::embedded();
  const auto found = calibrate_cluster(files, {.steps = steps});
  ASSERT_TRUE(found) << found.error().to_string();
  EXPECT_GT(worst_error(unseen, *load_step_constants(files)), 0.15);
  EXPECT_LT(worst_error(unseen, found->constants), 0.05);
  // Nothing else has moved.
  const StepConstants before = *load_step_constants(files);
  EXPECT_EQ(found->constants[StepConstant::kFlash2Share], before[StepConstant::kFlash2Share]);
  EXPECT_EQ(found->constants.architectures.at("ampere"), before.architectures.at("ampere"));
  EXPECT_EQ(found->constants.band, before.band);
}

TEST(ClusterCalibration, ANodesProfileGivesTheRatesOfItsKernels) {
  const DataFiles files = DataFiles::embedded();
  const DeviceType device = *find_device(files, "h100-80gb-sxm");
  const StepConstants before = *load_step_constants(files);
  // Products run at 80 % of what others have measured alone.
  StepConstants isolated = isolated_constants(before);
  isolated.architectures["hopper"].matrix *= 0.8;
  const auto cost = make_calibrated_cost(isolated, *find_framework(files, "stagewright"));
  Profile profile{.device = device.name};
  for (const std::int64_t size : {2048, 4096, 6144, 8192}) {
    Operation op;
    op.kind = OpKind::kGemm;
    op.dtype = DType::kBFloat16;
    op.shape = {.rows = size, .cols = size, .inner = 8192};
    op.inputs.resize(2);
    op.outputs.resize(1);
    profile.operations.push_back(
        {.key = cost_key(op), .time = {.median = cost->operation(op, device).time}});
  }
  const auto found = calibrate_cluster(files, {.node = profile});
  ASSERT_TRUE(found) << found.error().to_string();
  EXPECT_NEAR(found->constants.architectures.at("hopper").matrix,
              0.8 * before.architectures.at("hopper").matrix,
              0.01);
  EXPECT_EQ(found->constants.architectures.at("hopper").attention,
            before.architectures.at("hopper").attention);
}

TEST(ClusterCalibration, LogsGiveTheLinksOfTheDeviceFile) {
  const DataFiles files = DataFiles::embedded();
  const DeviceType device = *find_device(files, "h100-80gb-sxm");
  CollectiveRun run{.nodes = 4, .per_node = 8};
  GroupGeometry group;
  group.members = 32;
  group.nodes = 4;
  group.members_per_node = 8;
  group.intra_node = {.name = "inside", .bandwidth = BytesPerSecond(1e15)};
  group.inter_node = device.inter_node;
  group.inter_node.efficiency = 0.4;
  for (std::int64_t size = 1 << 18; size <= 1 << 30; size *= 8) {
    run.log.points.push_back({Bytes(size), collective_time(run.log.kind, Bytes(size), group)});
  }
  const auto found = calibrate_cluster(files, {.collectives = {run}, .device = "h100"});
  ASSERT_TRUE(found) << found.error().to_string();
  EXPECT_NEAR(found->constants[StepConstant::kNicShare], 0.4, 0.01);
  ASSERT_TRUE(found->device_file);
  EXPECT_EQ(found->device_file->first, "hardware/h100-80gb-sxm.json");
  const auto written = parse_device(found->device_file->second, "h100.json");
  ASSERT_TRUE(written) << written.error().to_string();
  EXPECT_NEAR(written->inter_node.efficiency, 0.4, 0.01);
  EXPECT_EQ(written->intra_node, device.intra_node);
}

TEST(ClusterCalibration, SaysWhatItNeeds) {
  const DataFiles files = DataFiles::embedded();
  const auto nothing = calibrate_cluster(files, {});
  ASSERT_FALSE(nothing);
  EXPECT_NE(nothing.error().message.find("needs logged steps"), std::string::npos);
  const auto unknown =
      calibrate_cluster(files, {.collectives = {CollectiveRun{}}, .device = "z9000"});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("'z9000' is not a known"), std::string::npos);
  const auto processor = calibrate_cluster(files, {.node = Profile{.device = "cpu"}});
  ASSERT_FALSE(processor);
  EXPECT_NE(processor.error().message.find("names no architecture"), std::string::npos);
}

}  // namespace
}  // namespace stagewright
