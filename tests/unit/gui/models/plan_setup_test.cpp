// What a form says as a job, a model as a tree, and plans written with their cluster.

#include "gui/models/plan_setup.h"

#include <QtTest/QAbstractItemModelTester>
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "formats/model_file.h"
#include "gui/models/layer_tree_model.h"
#include "gui/models/plan_file.h"
#include "planner/search/dimension.h"
#include "tests/support/temporary_folder.h"

namespace stagewright::gui {
namespace {

PlanSetup small_setup() {
  return {.model = "gpt2", .cluster = {.nodes = 2, .devices = 2}, .global_batch = 8};
}

TEST(PlanSetupTest, AFormIsAJob) {
  PlanSetup setup = small_setup();
  setup.constraints = {{"tp", "2"}, {"pp", ""}, {"schedule", "1f1b,gpipe"}};
  const auto job = job_of(DataFiles::embedded(), setup);
  ASSERT_TRUE(job) << job.error().to_string();
  EXPECT_EQ(job->model.name, "gpt2");
  EXPECT_EQ(job->cluster.device_count(), 4);
  EXPECT_EQ(job->constraints, "schedule=1f1b,gpipe tp=2");
  const auto read = parse_constraints(job->constraints);
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->size(), 2U);
}

TEST(PlanSetupTest, SaysWhichFieldIsWrong) {
  PlanSetup setup = small_setup();
  setup.constraints = {{"tp", "many"}};
  EXPECT_EQ(job_of(DataFiles::embedded(), setup).error().where, "--tp");
  setup = small_setup();
  setup.model = "no-such-model";
  EXPECT_NE(job_of(DataFiles::embedded(), setup).error().to_string().find("no-such-model"),
            std::string::npos);
  setup = small_setup();
  setup.cluster.device = "no-such-device";
  EXPECT_FALSE(job_of(DataFiles::embedded(), setup));
  setup = small_setup();
  setup.aim = "beauty";
  EXPECT_FALSE(job_of(DataFiles::embedded(), setup));
}

TEST(PlanSetupTest, LinksOfTheFormGoBeforeThoseOfTheDevice) {
  ClusterChoice choice{.nodes = 2, .devices = 2};
  const auto usual = cluster_of(DataFiles::embedded(), choice);
  choice.network_bandwidth = BytesPerSecond(1e9);
  choice.network_latency = std::chrono::microseconds(9);
  const auto changed = cluster_of(DataFiles::embedded(), choice);
  ASSERT_TRUE(usual && changed);
  EXPECT_EQ(changed->inter_link(NodeId(0)).bandwidth, BytesPerSecond(1e9));
  EXPECT_EQ(changed->inter_link(NodeId(0)).latency, std::chrono::microseconds(9));
  EXPECT_EQ(changed->intra_link(NodeId(0)), usual->intra_link(NodeId(0)));
}

TEST(PlanSetupTest, WritesTheSearchAsACommand) {
  PlanSetup setup = small_setup();
  setup.sequence = 512;
  setup.constraints = {{"schedule", "zb-*"}, {"tp", ""}};
  EXPECT_EQ(command_line(setup),
            "stagewright plan --model gpt2 --cluster 2x2xh100-80gb-sxm --global-batch 8 --seq 512 "
            "--schedule 'zb-*'");
}

TEST(PlanFileTest, APlanForOtherLinksIsWrittenWithItsCluster) {
  const TemporaryFolder folder;
  const DataFiles files = DataFiles::embedded();
  PlanInputs inputs{.plan = {},
                    .model = find_model(files, "gpt2").value(),
                    .cluster = find_cluster(files, "1x2xh100").value()};
  inputs.plan.model = "gpt2";
  inputs.plan.cluster = "1x2xh100";
  inputs.plan.sequence = 128;
  inputs.plan.stages = even_stages(static_cast<std::int32_t>(inputs.model.layers.size()), 2, 1, 1);
  const std::string path = (folder.path() / "x.plan.json").string();
  ASSERT_TRUE(save_plan_file(files, inputs, path));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "x.cluster.json"));
  inputs.cluster.intra_node = inputs.cluster.intra_link(NodeId(0));
  inputs.cluster.intra_node->bandwidth = BytesPerSecond(3e9);
  ASSERT_TRUE(save_plan_file(files, inputs, path));
  const auto read = load_plan(files, path, {}, {});
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->cluster.intra_link(NodeId(0)).bandwidth, BytesPerSecond(3e9));
  EXPECT_EQ(read->plan.stages, inputs.plan.stages);
}

TEST(LayerTreeModelTest, ShowsEqualLayersInOneRowWithTheirCosts) {
  const auto outline = outline_of(DataFiles::embedded(), small_setup());
  ASSERT_TRUE(outline) << outline.error().to_string();
  LayerTreeModel model;
  const QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.set_outline(*outline);
  ASSERT_EQ(model.rowCount({}), 3);  // embedding, blocks, head
  const QModelIndex blocks = model.index(1, 0, {});
  EXPECT_EQ(blocks.data().toString(), "12 ×  block.0 to block.11");
  EXPECT_GT(model.rowCount(blocks), 5);
  // The whole is the sum of its parts.
  std::int64_t parameters = 0;
  double flops = 0;
  for (const OutlineLayers& layers : outline->layers) {
    parameters += layers.count * layers.parameters;
    flops += static_cast<double>(layers.count) * layers.flops.count();
    std::int64_t in_ops = 0;
    for (const OutlineOp& op : layers.ops) {
      in_ops += op.parameters;
    }
    EXPECT_EQ(in_ops, layers.parameters) << layers.name;
    EXPECT_GT(layers.forward, Duration{}) << layers.name;
  }
  EXPECT_EQ(parameters, outline->parameters);
  EXPECT_NEAR(flops, outline->flops.count(), 1e-6 * flops);
  EXPECT_EQ(model.index(1, LayerTreeModel::kParameters, {}).data().toString(), "85.1 M");
  model.set_outline(std::nullopt);
  EXPECT_EQ(model.rowCount({}), 0);
}

TEST(LayerTreeModelTest, WritesCountsForPeople) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1050), "1.05 k");
  EXPECT_EQ(count_text(70.5537e9), "70.6 G");
}

}  // namespace
}  // namespace stagewright::gui
