#include "planner/lower/lower.h"

#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/model/op.h"
#include "tests/support/golden_file.h"
#include "tests/support/program_text.h"
#include "tests/support/tiny_models.h"

namespace stagewright {
namespace {

Schedule lowered(const ModelGraph& model, const Plan& plan) {
  Result<Schedule> schedule = lower(model, cpu_cluster(64), plan);
  EXPECT_TRUE(schedule) << schedule.error().to_string();
  return schedule ? *std::move(schedule) : Schedule{};
}

/// Everything that a program computes, for golden files.
std::string listing_of(const RankProgram& program) {
  std::string text;
  for (const StageProgram& stage : program.stages) {
    text += fmt::format("stage {} forward\n", stage.stage.value());
    text += text_of(program, stage.forward);
    text += fmt::format("stage {} backward\n", stage.stage.value());
    text += text_of(program, stage.backward);
  }
  for (std::size_t i = 0; i < program.buckets.size(); ++i) {
    text += fmt::format("bucket {} reduce\n", i);
    text += text_of(program, program.buckets[i].reduce);
  }
  text += "optimizer step\n" + text_of(program, program.optimizer_step);
  return text;
}

std::string listing_of(const Schedule& schedule) {
  std::string text;
  for (std::size_t i = 0; i < schedule.programs.size(); ++i) {
    text += fmt::format("program {}: {}\n", i, text_of(schedule.programs[i].actions));
    text += listing_of(schedule.programs[i]);
  }
  return text;
}

TEST(Lower, GptOnOneRank) {
  const ModelGraph model = tiny_gpt(1);
  EXPECT_TRUE(
      matches_golden("lower/gpt_tp1.txt", listing_of(lowered(model, plan_of(model, {}, 2)))));
}

TEST(Lower, GptOnTwoTensorRanks) {
  const ModelGraph model = tiny_gpt(1);
  EXPECT_TRUE(matches_golden("lower/gpt_tp2.txt",
                             listing_of(lowered(model, plan_of(model, {.tp = 2}, 2)))));
}

TEST(Lower, GptInTwoStagesWithTwoReplicasReducesTheTiedTableFirst) {
  const ModelGraph model = tiny_gpt(2);
  EXPECT_TRUE(matches_golden("lower/gpt_dp2_pp2.txt",
                             listing_of(lowered(model, plan_of(model, {.dp = 2, .pp = 2}, 2)))));
}

TEST(Lower, LlamaWithRecomputationInBf16OnTwoTensorRanks) {
  const ModelGraph model = tiny_llama(1);
  Plan plan = plan_of(model, {.tp = 2}, 2);
  plan.stages[0].recompute = Recompute::kFull;
  plan.precision.compute = DType::kBFloat16;
  const Result<Schedule> schedule = lower(model, gpu_cluster(1), plan);
  ASSERT_TRUE(schedule) << schedule.error().to_string();
  EXPECT_TRUE(matches_golden("lower/llama_tp2_recompute_bf16.txt", listing_of(*schedule)));
}

TEST(Lower, ReplicasAndTensorRanksShareOneProgramPerPipelineRank) {
  const ModelGraph model = tiny_gpt(2);
  const Schedule schedule = lowered(model, plan_of(model, {.dp = 4, .tp = 2, .pp = 2}, 2));
  EXPECT_EQ(schedule.programs.size(), 2U);
  EXPECT_EQ(schedule.ranks.size(), 16U);
  const RankBinding& last = schedule.ranks[15];
  EXPECT_EQ(last.program, ProgramId(1));
  EXPECT_EQ(last.replica, 3);
  EXPECT_EQ(last.peers, (std::vector<RankId>{RankId(7)}));
}

Flops flops_of(const std::vector<Operation>& ops, const std::set<OpKind>& kinds) {
  Flops sum{};
  for (const Operation& op : ops) {
    if (kinds.contains(op.kind)) {
      sum += flops_of(op);
    }
  }
  return sum;
}

/// Operations of one micro-batch's forward and backward, over all ranks of one replica.
Flops flops_of(const Schedule& schedule, const std::set<OpKind>& kinds) {
  Flops sum{};
  for (const RankBinding& rank : schedule.ranks) {
    if (rank.replica != 0) {
      continue;
    }
    for (const StageProgram& stage : schedule.programs[rank.program.index()].stages) {
      sum += flops_of(stage.forward, kinds) + flops_of(stage.backward, kinds);
    }
  }
  return sum;
}

// The vocabulary of 30 divides by 2 without padding.
TEST(Lower, TensorRanksTogetherDoTheMatrixWorkOfOne) {
  const std::set<OpKind> divided = {
      OpKind::kGemm, OpKind::kAttentionForward, OpKind::kAttentionBackward};
  for (const ModelGraph& model : {tiny_gpt(3), tiny_llama(3)}) {
    const Flops whole = flops_of(lowered(model, plan_of(model, {}, 2)), divided);
    EXPECT_GT(whole.count(), 0);
    for (const Degrees degrees : {Degrees{.tp = 2}, Degrees{.dp = 2, .tp = 2, .pp = 5}}) {
      const Flops sum = flops_of(lowered(model, plan_of(model, degrees, 2)), divided);
      EXPECT_DOUBLE_EQ(sum.count(), whole.count()) << model.name;
    }
  }
}

/// How often each element of a parameter is held, by flat index.
using Coverage = std::map<std::string, std::vector<double>>;

void cover(Coverage& coverage, const ParameterSlice& slice, std::int32_t position) {
  const std::int64_t rows = slice.global_shape[0];
  const std::int64_t cols = slice.global_shape.size() > 1 ? slice.global_shape[1] : 1;
  auto& counts = coverage[slice.name];
  counts.resize(static_cast<std::size_t>(rows * cols));
  const std::int64_t begin = slice.shard_axis ? position * slice.extent : 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) {
      const std::int64_t along = slice.shard_axis.value_or(0) == 0 ? r : c;
      if (!slice.shard_axis || (along >= begin && along < begin + slice.extent)) {
        counts[static_cast<std::size_t>(r * cols + c)] += 1.0 / slice.copies;
      }
    }
  }
}

Coverage coverage_of(const Schedule& schedule) {
  Coverage coverage;
  for (const RankBinding& rank : schedule.ranks) {
    for (const ParameterSlice& slice : schedule.programs[rank.program.index()].parameters) {
      cover(coverage, slice, slice.shard_group ? rank.positions[slice.shard_group->index()] : 0);
    }
  }
  return coverage;
}

std::set<std::string> parameters_of(const Layer& layer) {
  std::set<std::string> names;
  for (const LayerWeight& weight : layer.weights) {
    for (const ModelParameter& parameter : weight.parameters) {
      if (!weight.tied_to) {
        names.insert(parameter.name);
      }
    }
  }
  return names;
}

void expect_each_element_once(const ModelGraph& model, const Degrees& degrees) {
  SCOPED_TRACE(model.name + ", " + summary(plan_of(model, degrees, 2)));
  std::set<std::string> names;
  for (const Layer& layer : model.layers) {
    names.merge(parameters_of(layer));
  }
  std::set<std::string> covered;
  for (const auto& [name, counts] : coverage_of(lowered(model, plan_of(model, degrees, 2)))) {
    covered.insert(name);
    EXPECT_EQ(counts, std::vector<double>(counts.size(), 1.0)) << name;
  }
  EXPECT_EQ(covered, names);
}

// All copies are powers of two, so that their shares add up exactly.
TEST(Lower, TheParameterTablesCoverEveryElementOnceOverAllRanks) {
  for (const ModelGraph& model : {tiny_gpt(3), tiny_llama(3)}) {
    for (const Degrees degrees : {Degrees{},
                                  Degrees{.dp = 2},
                                  Degrees{.tp = 2},
                                  Degrees{.pp = 2},
                                  Degrees{.dp = 2, .tp = 2, .pp = 3}}) {
      expect_each_element_once(model, degrees);
    }
  }
}

TEST(Lower, OnlyTheCopyOfATiedWeightNamesTheOther) {
  const ModelGraph model = tiny_gpt(2);
  const Schedule schedule = lowered(model, plan_of(model, {.dp = 2, .pp = 2}, 2));
  const ParameterSlice& table = schedule.programs[0].parameters.front();
  const ParameterSlice& copy = schedule.programs[1].parameters.back();
  EXPECT_EQ(table.name, "embedding.table");
  EXPECT_EQ(table.tied_to, std::nullopt);
  EXPECT_EQ(table.copies, 4);
  EXPECT_EQ(copy.name, "embedding.table");
  EXPECT_EQ(copy.tied_to, "embedding.table");
  EXPECT_EQ(copy.copies, 4);
}

TEST(Lower, EveryWeightHasOneGradientOneNormAndOneUpdate) {
  const ModelGraph model = tiny_gpt(2);
  const Schedule schedule = lowered(model, plan_of(model, {}, 2));
  const RankProgram& program = schedule.programs.front();
  std::set<TensorId> weights;
  std::set<TensorId> gradients;
  for (const ParameterSlice& slice : program.parameters) {
    weights.insert(slice.weight);
    gradients.insert(slice.gradient);
  }
  std::set<TensorId> updated;
  std::set<TensorId> counted;
  for (const Operation& op : program.optimizer_step) {
    if (op.kind == OpKind::kAdamWStep) {
      EXPECT_TRUE(updated.insert(op.outputs.front()).second);
    } else if (op.kind == OpKind::kSquaredSum) {
      EXPECT_TRUE(counted.insert(op.inputs.front()).second);
    }
  }
  EXPECT_EQ(updated, weights);
  EXPECT_EQ(counted, gradients);
}

/// Tensors that a weight gradient would find overwritten if all weight gradients ran at the end.
std::vector<std::string> overwritten_inputs(const RankProgram& program,
                                            const std::vector<Operation>& backward) {
  std::map<TensorId, std::size_t> last_write;
  std::vector<std::string> names;
  std::map<const Operation*, std::map<TensorId, std::size_t>> seen;
  for (std::size_t i = 0; i < backward.size(); ++i) {
    if (backward[i].weight_gradient) {
      for (const TensorId input : backward[i].inputs) {
        seen[&backward[i]][input] = last_write.contains(input) ? last_write[input] + 1 : 0;
      }
    } else {
      for (const TensorId output : backward[i].outputs) {
        last_write[output] = i;
      }
    }
  }
  for (const auto& [op, inputs] : seen) {
    for (const auto& [input, version] : inputs) {
      if (version != (last_write.contains(input) ? last_write[input] + 1 : 0)) {
        names.push_back(program.tensors[input.index()].name);
      }
    }
  }
  return names;
}

void expect_separable(const Schedule& schedule) {
  for (const RankProgram& program : schedule.programs) {
    for (const StageProgram& stage : program.stages) {
      EXPECT_EQ(overwritten_inputs(program, stage.backward), std::vector<std::string>());
    }
  }
}

TEST(Lower, ABackwardCanBeSplitIntoInputAndWeightHalves) {
  for (const ModelGraph& model : {tiny_gpt(3), tiny_llama(3)}) {
    for (const Recompute recompute : {Recompute::kNone, Recompute::kFull}) {
      Plan plan = plan_of(model, {.tp = 2, .pp = 2}, 2);
      for (StagePlan& stage : plan.stages) {
        stage.recompute = recompute;
      }
      expect_separable(lowered(model, plan));
    }
  }
}

}  // namespace
}  // namespace stagewright
