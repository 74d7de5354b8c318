// What goes between the members that divide sequences or experts.

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "core/model/transformer.h"
#include "core/schedule/lifetimes.h"
#include "core/schedule/semantics.h"
#include "planner/lower/lower.h"
#include "tests/support/tiny_models.h"

namespace stagewright {
namespace {

Schedule lowered(const ModelGraph& model, const Plan& plan, std::int32_t devices) {
  Schedule schedule = lower(model, cpu_cluster(devices), plan).value();
  const Result<void> valid = validate(schedule);
  EXPECT_TRUE(valid) << valid.error().to_string();
  return schedule;
}

std::ptrdiff_t count(const std::vector<Operation>& ops, OpKind kind) {
  return std::ranges::count(ops, kind, &Operation::kind);
}

Schedule ring_of_four() {
  const ModelGraph model = tiny_llama(1);
  Plan plan = plan_of(model, {}, 1);
  plan.cp = 4;
  return lowered(model, plan, 4);
}

// Keys and values make three steps; in the backward their gradients come home with a fourth.
TEST(RingAttention, GoesRoundOnceAndForGradientsTwice) {
  const Schedule schedule = ring_of_four();
  const StageProgram& stage = schedule.programs[0].stages[0];
  EXPECT_EQ(count(stage.forward, OpKind::kAttentionForward), 4);
  EXPECT_EQ(count(stage.forward, OpKind::kRingShift), 3);
  EXPECT_EQ(count(stage.backward, OpKind::kAttentionBackward), 4);
  EXPECT_EQ(count(stage.backward, OpKind::kRingShift), 3 + 3);
  for (const Operation& op : stage.forward) {
    if (op.kind == OpKind::kAttentionForward) {
      EXPECT_EQ(op.shape.sequence, 8 / 4);
      EXPECT_EQ(op.accumulate, op.index > 0);
    }
  }
}

// What came from others is given up with the action that received it.
TEST(RingAttention, KeepsNothingOfOthersForTheBackward) {
  const Schedule schedule = ring_of_four();
  const RankProgram& program = schedule.programs[0];
  int exchanged = 0;
  for (const Lifetime& lifetime : lifetimes(program)) {
    if (program.tensors[lifetime.tensor.index()].name.find(".kv.") != std::string::npos) {
      EXPECT_EQ(lifetime.first.action, lifetime.last.action);
      ++exchanged;
    }
  }
  EXPECT_EQ(exchanged, 2 * 4);  // each member's, there and back
}

ModelGraph with_experts() {
  TransformerShape shape = tiny_llama(1).shape;
  shape.experts = 4;
  shape.experts_per_token = 3;
  return make_transformer("tiny-experts", "test", shape).value();
}

Schedule experts_of_two(std::int32_t dp) {
  const ModelGraph model = with_experts();
  Plan plan = plan_of(model, {.dp = dp}, 1);
  plan.ep = 2;
  return lowered(model, plan, dp);
}

TEST(Experts, ExchangeCountsAndThenRowsThereAndBack) {
  const Schedule schedule = experts_of_two(2);
  const StageProgram& stage = schedule.programs[0].stages[0];
  EXPECT_EQ(count(stage.forward, OpKind::kAllToAll), 3);
  EXPECT_EQ(count(stage.backward, OpKind::kAllToAll), 2);
  EXPECT_EQ(count(stage.forward, OpKind::kGroupedGemm), 2);
  EXPECT_EQ(count(stage.backward, OpKind::kGroupedGemm), 4);
}

// 8 tokens choose 3 of 4 experts: 24 rows are expected, but all 16 of two ranks may choose both of
// a member's experts.
TEST(Experts, HaveRoomForWhateverTokensChoose) {
  const Schedule schedule = experts_of_two(2);
  const RankProgram& program = schedule.programs[0];
  for (const Operation& op : program.stages[0].forward) {
    if (op.kind == OpKind::kGroupedGemm) {
      EXPECT_EQ(op.shape.rows, 8 * 3);
      EXPECT_EQ(op.shape.sequence, 8 * 2);
      EXPECT_EQ(program.tensors[op.inputs[0].index()].shape[0], 2 * 8 * 2);
    }
  }
}

// Of four ranks two have the same experts; all have the rest.
TEST(Experts, AreReducedAmongThoseWhoHaveThem) {
  const Schedule schedule = experts_of_two(4);
  const RankProgram& program = schedule.programs[0];
  const RankBinding& rank = schedule.ranks[1];
  std::map<std::string, std::vector<RankId>> summed_over;
  for (const ParameterSlice& parameter : program.parameters) {
    const GradientBucket& bucket = program.buckets[parameter.bucket->index()];
    ASSERT_EQ(bucket.reduce.size(), 1U);
    const GroupId group = rank.groups[bucket.reduce[0].group->index()];
    summed_over[parameter.name] = schedule.groups[group.index()].members;
    const bool expert = parameter.name.find("experts") != std::string::npos;
    EXPECT_EQ(parameter.copies, expert ? 2 : 4) << parameter.name;
  }
  EXPECT_EQ(summed_over.at("block.0.mlp.experts.up.weight"),
            (std::vector<RankId>{RankId(1), RankId(3)}));
  EXPECT_EQ(summed_over.at("block.0.mlp.router.weight").size(), 4U);
}

}  // namespace
}  // namespace stagewright
