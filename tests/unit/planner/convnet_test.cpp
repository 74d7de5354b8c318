// Convolutional networks: what their layers cost, and the field's rule for dividing them
// (Krizhevsky 2014, arXiv 1404.5997, sections 3 and 4): convolutions have most of the computation
// and few parameters, fully connected layers the reverse, so that the former are trained with
// replicas and the latter are divided.

#include "core/model/convnet.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "planner/lower/lower.h"
#include "planner/plan_job.h"
#include "planner/search/layer_costs.h"
#include "sim/engine/static_pass.h"

namespace stagewright {
namespace {

/// Sizes of torchvision's AlexNet and of VGG-16; the presets of these names are read in formats.
ModelGraph alexnet() {
  const ConvNetPool pool{.kernel = 3, .stride = 2};
  return make_convnet(
             "alexnet",
             {.height = 224,
              .width = 224,
              .classes = 1000,
              .layers = {{.channels = 64, .kernel = 11, .stride = 4, .padding = 2, .pool = pool},
                         {.channels = 192, .kernel = 5, .padding = 2, .pool = pool},
                         {.channels = 384, .padding = 1},
                         {.channels = 256, .padding = 1},
                         {.channels = 256, .padding = 1, .pool = pool},
                         {.units = 4096},
                         {.units = 4096}}})
      .value();
}

ModelGraph vgg16() {
  ConvNetShape shape{.height = 224, .width = 224, .classes = 1000, .layers = {}};
  const std::vector<std::pair<int, std::int64_t>> groups = {
      {2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}};
  for (const auto& [count, channels] : groups) {
    for (int i = 1; i <= count; ++i) {
      ConvNetLayer layer{.channels = channels, .padding = 1};
      if (i == count) {
        layer.pool.emplace();
      }
      shape.layers.push_back(layer);
    }
  }
  shape.layers.push_back({.units = 4096});
  shape.layers.push_back({.units = 4096});
  return make_convnet("vgg16", shape).value();
}

bool is_convolutional(const Layer& layer) {
  return std::ranges::find(layer.ops, LayerOpKind::kConvolution, &LayerOp::kind) != layer.ops.end();
}

class ConvNetPlans : public testing::Test {
 protected:
  [[nodiscard]] static Plan one_rank(const ModelGraph& model, std::int32_t images) {
    Plan plan;
    plan.sequence = 1;
    plan.micro_batch_size = images;
    plan.stages = even_stages(static_cast<std::int32_t>(model.layers.size()), 1, 1, 1);
    return plan;
  }
  [[nodiscard]] Cluster cluster(const char* name) const {
    return find_cluster(files_, name).value();
  }

  DataFiles files_ = DataFiles::embedded();
  std::unique_ptr<CostModel> cost_ = usual_costs(files_).value();
};

/// What convolutional layers have of all.
struct Shares {
  double time = 0;
  double saved = 0;
  double parameters = 0;
};
Shares shares_of(const ModelGraph& model, const LayerCosts& costs) {
  LayerCost convolutions;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (is_convolutional(model.layers[i])) {
      convolutions += costs.layers[i];
    }
  }
  const LayerCost& all = sum_of(costs);
  return {to_seconds(convolutions.time()) / to_seconds(all.time()),
          static_cast<double>(convolutions.saved.count()) / static_cast<double>(all.saved.count()),
          static_cast<double>(convolutions.parameters.count()) /
              static_cast<double>(all.parameters.count())};
}

// AlexNet: 2.47 of 61.1 million parameters; VGG-16: 14.7 of 138.4.
TEST_F(ConvNetPlans, ConvolutionsComputeAndConnectedLayersHaveTheParameters) {
  const Cluster machine = cluster("1x8xa100-80gb-sxm");
  const ModelGraph alex = alexnet();
  const Shares of_alex =
      shares_of(alex, layer_costs(alex, machine, *cost_, one_rank(alex, 128)).value());
  EXPECT_NEAR(of_alex.parameters, 0.0404, 0.0005);
  // Nine tenths of the multiply-adds; the connected layers move more bytes for theirs.
  EXPECT_GT(of_alex.time, 0.65);
  EXPECT_GT(of_alex.saved, 0.95);
  const ModelGraph vgg = vgg16();
  const Shares of_vgg =
      shares_of(vgg, layer_costs(vgg, machine, *cost_, one_rank(vgg, 64)).value());
  EXPECT_NEAR(of_vgg.parameters, 0.1063, 0.0005);
  EXPECT_GT(of_vgg.time, 0.95);
  EXPECT_GT(of_vgg.saved, 0.99);
}

// The price of each layer alone and the static pass over the lowered list are one figure.
TEST_F(ConvNetPlans, LayersAndTheListHaveOnePrice) {
  for (const ModelGraph& model : {alexnet(), vgg16()}) {
    const Cluster machine = cluster("1x1xa100-80gb-sxm");
    const Plan plan = one_rank(model, 32);
    const LayerCost sum = sum_of(layer_costs(model, machine, *cost_, plan).value());
    const auto simulated = simulate(
        lower(model, machine, plan).value(), machine, *cost_, {.trace = TraceDetail::kNone});
    ASSERT_TRUE(simulated) << simulated.error().to_string();
    // Of work the list has norms, sums and zeros of gradients besides, of which few are priced.
    const Duration once = cost_->rules(machine.types.front()).once_a_step;
    const double layers = to_seconds(sum.time() + sum.optimizer + once);
    EXPECT_NEAR(to_seconds(simulated->summary.step_time) / layers, 1, 0.02) << model.name;
  }
}

// Of what a device sends and receives in a step, 8 devices with 128 images each: replicas sum the
// gradients of what they hold; devices that divide a layer need each other's activations, on the
// way there and back.
TEST_F(ConvNetPlans, ReplicasOfConvolutionsAndDividedConnectedLayersExchangeLeast) {
  constexpr std::int64_t kImages = 128;
  constexpr std::int64_t kDevices = 8;
  const ModelGraph model = alexnet();
  const Cluster machine = cluster("1x8xa100-80gb-sxm");
  const LayerCosts costs = layer_costs(model, machine, *cost_, one_rank(model, kImages)).value();
  std::vector<DeviceId> devices;
  for (std::int32_t i = 0; i < kDevices; ++i) {
    devices.emplace_back(i);
  }
  const std::vector<std::vector<DeviceId>> groups = {devices};
  const GroupGeometry group = geometry_of(machine, devices, groups);
  const auto seconds = [&](OpKind kind, std::int64_t elements) {
    Operation exchange;
    exchange.kind = kind;
    exchange.shape.cols = elements;
    return to_seconds(cost_->collective(exchange, group).time);
  };
  double replicated[2] = {0, 0};
  double divided[2] = {0, 0};
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Layer& layer = model.layers[i];
    const int kind = is_convolutional(layer) ? 0 : 1;
    replicated[kind] += seconds(OpKind::kAllReduce, costs.layers[i].gradients.count() / 4);
    const ValueId out = layer.output ? *layer.output : ValueId(layer.values.size() - 1);
    divided[kind] +=
        2 * seconds(OpKind::kAllGather, layer.values[out.index()].width * kImages * kDevices);
  }
  EXPECT_LT(replicated[0] * 5, divided[0]);
  EXPECT_LT(divided[1] * 2, replicated[1]);
}

// A stage of few convolutions takes as long as one of many others and all connected layers.
TEST_F(ConvNetPlans, ThePipelineIsCutWhereStagesTakeAlike) {
  const ModelGraph model = vgg16();
  const Cluster machine = cluster("1x2xa100-80gb-sxm");
  const auto found = plan_job({.model = model,
                               .cluster = machine,
                               .global_batch = 256,
                               .constraints = "pp=2 dp=1 micro-batch=16 recompute=none"},
                              files_);
  ASSERT_TRUE(found) << found.error().to_string();
  ASSERT_FALSE(found->plans.empty());
  const Candidate& best = found->plans.front();
  ASSERT_EQ(best.plan.stages.size(), 2U);
  EXPECT_LE(best.bound, best.step_time);
  EXPECT_GT(to_seconds(best.bound), 0.85 * to_seconds(best.step_time));
  // What crosses a border differs by cut, too: up to 51 MB for 16 images, and 262 kB at the end.
  Duration least = Duration::max();
  const auto layers = static_cast<std::int32_t>(model.layers.size());
  for (std::int32_t cut = 1; cut < layers; ++cut) {
    Plan plan = best.plan;
    plan.stages[0].layers = cut;
    plan.stages[1].first_layer = cut;
    plan.stages[1].layers = layers - cut;
    const auto simulated = simulate(
        lower(model, machine, plan).value(), machine, *cost_, {.trace = TraceDetail::kNone});
    least = std::min(least, simulated.value().summary.step_time);
  }
  EXPECT_LE(to_seconds(best.step_time), 1.01 * to_seconds(least));
  EXPECT_NE(best.plan.stages.front().layers, best.plan.stages.back().layers);
}

TEST_F(ConvNetPlans, SearchProposesNoTensorParallelism) {
  const auto found = plan_job(
      {.model = alexnet(), .cluster = cluster("1x8xa100-80gb-sxm"), .global_batch = 1024}, files_);
  ASSERT_TRUE(found) << found.error().to_string();
  ASSERT_FALSE(found->plans.empty());
  for (const Candidate& candidate : found->plans) {
    EXPECT_EQ(candidate.plan.stages.front().tp, 1);
    EXPECT_EQ(candidate.plan.cp, 1);
    EXPECT_TRUE(candidate.simulated);
  }
  EXPECT_TRUE(found->estimated.empty());
  const auto told = std::ranges::find_if(found->rejected, [](const Rejection& rejection) {
    return rejection.reason.find("convolutions, which are not divided") != std::string::npos;
  });
  EXPECT_NE(told, found->rejected.end());
}

}  // namespace
}  // namespace stagewright
