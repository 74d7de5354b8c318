// A transformer layer priced operation by operation, as plan and simulate do, against the closed
// form of the step, as validate does.

#include <string>

#include <gtest/gtest.h>

#include "core/base/data_files.h"
#include "core/model/transformer.h"
#include "core/training/run_sizes.h"
#include "planner/search/layer_costs.h"
#include "sim/cost/calibrated_cost.h"
#include "sim/step/layer_time.h"

namespace stagewright {
namespace {

/// One layer of GPT-3 of 175 billion parameters (Brown et al. 2020, table 2.1).
TransformerShape gpt3() {
  return {.layers = 1,
          .hidden = 12288,
          .heads = 96,
          .kv_heads = 96,
          .head_dim = 128,
          .feed_forward = 49152,
          .vocabulary = 51200,
          .max_sequence = 2048};
}

/// One layer of Llama 3 with 8 billion parameters (arXiv 2407.21783, table 3).
TransformerShape llama3() {
  return {.layers = 1,
          .hidden = 4096,
          .heads = 32,
          .kv_heads = 8,
          .head_dim = 128,
          .feed_forward = 14336,
          .vocabulary = 128256,
          .max_sequence = 8192,
          .norm = OpVariant::kRmsNorm,
          .activation = OpVariant::kSwiGlu,
          .learned_positions = false,
          .biases = false,
          .qkv_bias = false,
          .tied_embeddings = false};
}

struct LayerPrices {
  double forward = 0;
  double backward = 0;
};

class LayerPriceTest : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] Plan plan_of(const TransformerShape& shape, std::int32_t micro_batch) const {
    Plan plan;
    plan.stages = {StagePlan{.layers = static_cast<std::int32_t>(shape.layers) + 2}};
    plan.sequence = static_cast<std::int32_t>(shape.max_sequence);
    plan.micro_batch_size = micro_batch;
    return plan;
  }
  [[nodiscard]] LayerPrices by_operation(const TransformerShape& shape, const Plan& plan) const {
    const auto model = make_transformer("model", "gpt2", shape);
    const auto cluster = find_cluster(files_, std::string("1x8x") + GetParam());
    TrainingSetup setup;
    setup.framework = framework_;
    setup.run.shape = shape;
    const auto cost = make_calibrated_cost(constants_, setup);
    const auto costs = layer_costs(model.value(), cluster.value(), *cost, plan);
    const LayerCost& layer = costs.value().layers.at(1);
    return {to_seconds(layer.forward), to_seconds(layer.backward)};
  }
  [[nodiscard]] LayerPrices in_closed_form(const TransformerShape& shape, const Plan& plan) const {
    TrainingSetup setup;
    setup.device = find_device(files_, GetParam()).value();
    setup.framework = framework_;
    setup.run = run_of(plan, shape);
    const LayerTime layer =
        dense_layer(setup,
                    choices_of(setup),
                    kernel_rates(setup, constants_, constants_.timing(framework_.timing_class)));
    return {layer.forward.device(), layer.backward.device()};
  }

  DataFiles files_ = DataFiles::embedded();
  StepConstants constants_ = load_step_constants(files_).value();
  FrameworkProfile framework_ = find_framework(files_, "stagewright").value();
};

// Closed form and list add up the same kernels (sim/cost/row_kernels.h); durations are rounded to
// picoseconds.  The list's price holds up to the host's issue, which these sizes never wait for.
TEST_P(LayerPriceTest, ALayerCostsTheSameByBothPaths) {
  for (const TransformerShape& shape : {gpt3(), llama3()}) {
    for (const std::int32_t micro_batch : {1, 2}) {
      const Plan plan = plan_of(shape, micro_batch);
      const LayerPrices list = by_operation(shape, plan);
      const LayerPrices closed = in_closed_form(shape, plan);
      EXPECT_NEAR(list.forward / closed.forward, 1, 1e-6) << micro_batch;
      EXPECT_NEAR(list.backward / closed.backward, 1, 1e-6) << micro_batch;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices,
                         LayerPriceTest,
                         testing::Values("a100-80gb-sxm", "h100-80gb-sxm"),
                         [](const auto& name) { return std::string(name.param).substr(0, 4); });

}  // namespace
}  // namespace stagewright
