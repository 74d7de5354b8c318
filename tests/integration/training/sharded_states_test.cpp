#include <gtest/gtest.h>

#include "tests/integration/training/layouts.h"
#include "tests/integration/training/trained_weights.h"

namespace stagewright {
namespace {

std::int64_t optimizer_bytes(const Schedule& schedule, std::size_t rank) {
  std::int64_t bytes = 0;
  for (const TensorSpec& tensor : schedule.programs[schedule.ranks[rank].program.index()].tensors) {
    if (tensor.tensor_class == TensorClass::kOptimizer && !tensor.view && tensor.name != "totals") {
      bytes += tensor.bytes().count();
    }
  }
  return bytes;
}

// Rajbhandari et al. 2020, ZeRO-1: the states over the replicas; what padding adds is below a
// replica's worth of elements in each of the few buckets.
TEST(ShardedStates, EachReplicaHoldsItsShareOfTheStates) {
  const ModelGraph model = small_model(Style::kGpt);
  const Schedule whole = schedule_of(model, {.name = "dp4", .dp = 4}, adamw());
  const Schedule divided = schedule_of(model, {.name = "dp4", .dp = 4, .zero_stage = 1}, adamw());
  const std::int64_t padding =
      2 * 4 * 4 * static_cast<std::int64_t>(divided.programs[0].buckets.size());
  EXPECT_GE(optimizer_bytes(divided, 0), optimizer_bytes(whole, 0) / 4);
  EXPECT_LE(optimizer_bytes(divided, 0), optimizer_bytes(whole, 0) / 4 + padding);
}

// What the replicas gather are the very same weights everywhere.
TEST(ShardedStates, ReplicasStayEqualToTheBit) {
  for (const Style style : {Style::kGpt, Style::kLlama}) {
    const auto ranks = trained_weights(
        schedule_of(small_model(style), {.name = "dp4", .dp = 4, .zero_stage = 1}, adamw()), 5);
    for (const RankWeights& weights : ranks) {
      EXPECT_EQ(weights, ranks.front());
    }
  }
}

// Two replicas: sums of two terms do not depend on who adds them.
TEST(ShardedStates, TrainAsWholeStatesDo) {
  const ModelGraph model = small_model(Style::kLlama);
  for (const OptimizerSpec& optimizer : {without_clipping(sgd()), without_clipping(adamw())}) {
    EXPECT_EQ(trained_weights(
                  schedule_of(model, {.name = "dp2", .dp = 2, .zero_stage = 1}, optimizer), 5)[0],
              trained_weights(schedule_of(model, {.name = "dp2", .dp = 2}, optimizer), 5)[0]);
  }
}

// Clipping needs the norm of the whole gradient: a barrier, which plans without it do not have.
TEST(NormBarrier, StandsBeforeTheUpdatesOnlyWhereThePlanClips) {
  const ModelGraph model = small_model(Style::kGpt);
  for (const OptimizerSpec& optimizer : {adamw(), without_clipping(adamw())}) {
    const Schedule schedule = schedule_of(model, {.name = "pp2", .pp = 2}, optimizer);
    for (const RankProgram& program : schedule.programs) {
      for (const Operation& op : program.optimizer_step) {
        if (op.kind == OpKind::kAdamWStep) {
          EXPECT_EQ(op.inputs.size(), optimizer.clip_norm ? 2U : 1U);
        }
      }
    }
  }
}

}  // namespace
}  // namespace stagewright
