#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/schedule/lifetimes.h"
#include "planner/lower/lower.h"
#include "tests/support/tiny_models.h"

namespace stagewright {
namespace {

constexpr std::int32_t kStages = 4;
constexpr std::int32_t kMicroBatches = 8;

Schedule lowered(const ModelGraph& model, const Plan& plan) {
  return lower(model, gpu_cluster(1), plan).value();
}

Plan pipeline_plan(const ModelGraph& model, const std::string& schedule) {
  Plan plan = plan_of(model, {.pp = kStages}, kMicroBatches);
  plan.schedule = schedule;
  return plan;
}

/// Largest number of micro-batches whose instance of the tensor is alive at once.
std::size_t alive_at_once(const RankProgram& program, const std::string& name) {
  std::vector<Lifetime> of_tensor;
  for (const Lifetime& lifetime : lifetimes(program)) {
    if (program.tensors[lifetime.tensor.index()].name == name) {
      of_tensor.push_back(lifetime);
    }
  }
  std::size_t most = 0;
  for (const Lifetime& at : of_tensor) {
    std::size_t alive = 0;
    for (const Lifetime& other : of_tensor) {
      alive += other.first <= at.first && at.first <= other.last ? 1U : 0U;
    }
    most = std::max(most, alive);
  }
  return most;
}

/// The packed projection of the first block that each rank holds, by rank.
std::vector<std::size_t> micro_batches_alive(const Schedule& schedule, const ModelGraph& model) {
  std::vector<std::size_t> alive;
  for (const RankProgram& program : schedule.programs) {
    for (const Layer& layer : model.layers) {
      if (const std::size_t count = alive_at_once(program, layer.name + ".qkv"); count > 0) {
        alive.push_back(count);
        break;
      }
    }
  }
  return alive;
}

// Narayanan et al. 2021, section 2.2.1: p - r of m micro-batches against all m.
TEST(LoweredMemory, OneForwardOneBackwardKeepsAsManyMicroBatchesAsStagesAreLeft) {
  const ModelGraph model = tiny_llama(6);
  EXPECT_EQ(micro_batches_alive(lowered(model, pipeline_plan(model, "1f1b")), model),
            (std::vector<std::size_t>{4, 3, 2, 1}));
  EXPECT_EQ(micro_batches_alive(lowered(model, pipeline_plan(model, "gpipe")), model),
            (std::vector<std::size_t>{8, 8, 8, 8}));
}

TEST(LoweredMemory, RecomputationKeepsOneMicroBatchOfALayersInside) {
  const ModelGraph model = tiny_llama(6);
  Plan plan = pipeline_plan(model, "1f1b");
  for (StagePlan& stage : plan.stages) {
    stage.recompute = Recompute::kFull;
  }
  EXPECT_EQ(micro_batches_alive(lowered(model, plan), model),
            (std::vector<std::size_t>{1, 1, 1, 1}));
  // Only the first layer of each stage: embedding, block 1, block 3, block 5.
  for (StagePlan& stage : plan.stages) {
    stage.recompute_layers = 1;
  }
  EXPECT_EQ(micro_batches_alive(lowered(model, plan), model),
            (std::vector<std::size_t>{4, 1, 1, 1}));
}

TEST(LoweredMemory, ParametersGradientsAndStatesOfMixedPrecisionTake18BytesAParameter) {
  const ModelGraph model = tiny_llama(2);
  Plan plan = plan_of(model, {}, 1);
  plan.precision.compute = DType::kBFloat16;
  const Schedule schedule = lowered(model, plan);
  std::array<Bytes, kTensorClassCount> persistent{};
  for (const TensorSpec& tensor : schedule.programs.front().tensors) {
    if (tensor.scope == TensorScope::kPersistent && !tensor.view && tensor.name != "totals") {
      persistent.at(static_cast<std::size_t>(tensor.tensor_class)) += tensor.bytes();
    }
  }
  const std::int64_t parameters = parameter_count(model);
  const auto of = [&persistent](TensorClass tensor_class) {
    return persistent.at(static_cast<std::size_t>(tensor_class)).count();
  };
  EXPECT_EQ(of(TensorClass::kParameter), 2 * parameters);
  EXPECT_EQ(of(TensorClass::kGradient), 4 * parameters);
  EXPECT_EQ(of(TensorClass::kOptimizer), 12 * parameters);
}

TEST(LoweredMemory, OnlyDevicesWithoutFusedAttentionNeedAWorkspace) {
  const ModelGraph model = tiny_gpt(1);
  const auto workspaces = [&model](const Cluster& cluster) {
    const Schedule schedule = lower(model, cluster, plan_of(model, {}, 1)).value();
    std::vector<std::vector<std::int64_t>> shapes;
    for (const TensorSpec& tensor : schedule.programs.front().tensors) {
      if (tensor.tensor_class == TensorClass::kWorkspace) {
        shapes.push_back(tensor.shape);
      }
    }
    return shapes;
  };
  EXPECT_EQ(workspaces(gpu_cluster(1)), (std::vector<std::vector<std::int64_t>>{}));
  EXPECT_EQ(workspaces(cpu_cluster(1)), (std::vector<std::vector<std::int64_t>>{{512}, {1024}}));
}

// The second of two replicas of pipeline rank 1 sits on a device without fused attention.
TEST(LoweredMemory, OneDeviceWithoutFusedAttentionIsEnoughForItsPipelineRank) {
  const ModelGraph model = tiny_gpt(2);
  Cluster cluster = gpu_cluster(1);
  cluster.types.push_back(cpu_cluster(1).types.front());
  const Plan plan = plan_of(model, {.dp = 2, .pp = 2}, 2);
  const Schedule before = lower(model, cluster, plan).value();
  const auto last = std::ranges::find_if(before.ranks, [](const RankBinding& rank) {
    return rank.program == ProgramId(1) && rank.replica == 1;
  });
  ASSERT_NE(last, before.ranks.end());
  cluster.nodes.front().devices[last->device.index()] = 1;
  const Schedule schedule = lower(model, cluster, plan).value();
  const auto has_workspace = [&](std::size_t program) {
    return std::ranges::any_of(schedule.programs[program].tensors, [](const TensorSpec& tensor) {
      return tensor.tensor_class == TensorClass::kWorkspace;
    });
  };
  EXPECT_FALSE(has_workspace(0));
  EXPECT_TRUE(has_workspace(1));
}

}  // namespace
}  // namespace stagewright
