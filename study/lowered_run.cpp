#include "study/lowered_run.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/model/transformer.h"
#include "core/training/run_sizes.h"
#include "planner/lower/lower.h"
#include "planner/schedules/registry.h"
#include "sim/cost/calibrated_cost.h"
#include "sim/cost/run_choices.h"
#include "sim/engine/static_pass.h"
#include "sim/memory/stage_parameters.h"
#include "sim/step/step_time.h"

namespace stagewright {
namespace {

Result<void> unsupported(std::string what) {
  return fail(ErrorCode::kUnsupported, std::move(what) + " cannot be lowered");
}

DType compute_type(const TrainingRun& run) {
  switch (run.format) {
    case MatrixFormat::kFloat32:
      return DType::kFloat32;
    case MatrixFormat::kTf32:
      return DType::kTf32;
    case MatrixFormat::kFloat16:
      return DType::kFloat16;
    case MatrixFormat::kBFloat16:
      break;
    case MatrixFormat::kFloat8:
    case MatrixFormat::kFloat8Blocks:
    case MatrixFormat::kFloat4:
      return DType::kFloat8;  // the cost model knows which
  }
  return DType::kBFloat16;
}

/// Lists have whole experts in every block, and tokens that no other rank holds.
Result<void> check_experts(const TrainingRun& run) {
  if (!run.experts) {
    return {};
  }
  if (run.experts->shared_feed_forward > 0) {
    return unsupported("an expert that every token visits");
  }
  if (run.experts->dense_layers > 0) {
    return unsupported("experts in some of the layers");
  }
  if (run.tp > 1 || run.expert_tp.value_or(1) > 1) {
    return unsupported("experts with tensor parallelism as the framework runs them");
  }
  return {};
}

Result<void> check_expressible(const TrainingSetup& setup, const RunChoices& choices) {
  const TrainingRun& run = setup.run;
  if (auto able = check_experts(run); !able) {
    return able;
  }
  if (run.encoder || !run.causal) {
    return unsupported("an encoder");
  }
  if (run.latent_attention) {
    return unsupported("latent attention");
  }
  if (run.shard_group > 0) {
    return unsupported("state sharded over some of the replicas");
  }
  if (run.vocabulary_placement != VocabularyPlacement::kEnds &&
      run.vocabulary_placement != VocabularyPlacement::kRedistributed) {
    return unsupported("a vocabulary divided over the stages");
  }
  if (choices.recompute == Recompute::kSelective &&
      run.selective != SelectiveKind::kAttentionCore) {
    return unsupported("this selective recomputation");
  }
  if (choices.recompute == Recompute::kFull &&
      (run.recomputed.every > 1 || run.recomputed.checkpoint > 1)) {
    return unsupported("a recomputation of every second layer or of several at once");
  }
  if (run.micro_batches > std::int64_t{1} << 20) {
    return unsupported("so many micro-batches");
  }
  return {};
}

/// Transformer layers of each pipeline rank.
std::vector<std::int32_t> blocks_by_rank(const TrainingRun& run, const StageLayers& layers) {
  if (run.pp == 1) {
    return {static_cast<std::int32_t>(run.shape.layers)};
  }
  std::vector<std::int32_t> blocks{static_cast<std::int32_t>(layers.first)};
  auto left = static_cast<std::int32_t>(std::llround(layers.middle_sum));
  for (std::int32_t rank = 1; rank + 1 < run.pp; ++rank) {
    const std::int32_t ranks = run.pp - 1 - rank;
    const std::int32_t own = (left + ranks - 1) / ranks;
    blocks.push_back(own);
    left -= own;
  }
  blocks.push_back(static_cast<std::int32_t>(layers.last));
  return blocks;
}

/// Virtual stage c of rank r is stage c pp + r; a rank's layers as even as possible over its own.
Result<std::vector<StagePlan>> stages_of(const TrainingRun& run,
                                         const StageLayers& layers,
                                         Recompute recompute) {
  const std::vector<std::int32_t> blocks = blocks_by_rank(run, layers);
  std::vector<StagePlan> stages;
  std::int32_t next = 0;
  for (std::int32_t chunk = 0; chunk < run.virtual_stages; ++chunk) {
    for (std::int32_t rank = 0; rank < run.pp; ++rank) {
      const std::int32_t total = blocks[static_cast<std::size_t>(rank)];
      const std::int32_t own =
          total / run.virtual_stages + (chunk < total % run.virtual_stages ? 1 : 0);
      stages.push_back({.layers = own, .dp = run.dp, .tp = run.tp, .recompute = recompute});
      if (recompute == Recompute::kFull && run.recomputed.block > 0) {
        stages.back().recompute_layers = std::min(own, run.recomputed.block);
      }
    }
  }
  // The embedding is the first stage's first layer.
  if (stages.front().recompute_layers) {
    ++*stages.front().recompute_layers;
  }
  ++stages.front().layers;
  ++stages.back().layers;
  for (StagePlan& stage : stages) {
    if (stage.layers < 1) {
      return tl::unexpected(unsupported("a stage without layers").error());
    }
    stage.first_layer = next;
    next += stage.layers;
  }
  return stages;
}

/// Nodes of as many devices as reach each other over the inner link; all alike, so that 256 devices
/// use 64 in each of four racks of 72.
Cluster cluster_of(const TrainingSetup& setup) {
  Cluster cluster;
  cluster.types = {setup.device};
  const std::int64_t devices = setup.run.devices();
  std::int64_t each_node = std::min<std::int64_t>(setup.domain, devices);
  while (devices % each_node != 0) {
    --each_node;
  }
  const auto each = static_cast<std::size_t>(each_node);
  const auto nodes = static_cast<std::size_t>(devices / each_node);
  for (std::size_t node = 0; node < nodes; ++node) {
    cluster.nodes.push_back({.name = "", .devices = std::vector<std::int32_t>(each, 0)});
  }
  cluster.name = fmt::format("{}x{}x{}", nodes, each, setup.device.name);
  cluster.intra_node = setup.intra_node;
  cluster.inter_node = setup.inter_node;
  return cluster;
}

/// Parameters are gathered layer by layer when a pass needs them, and again for the backward; what
/// computation hides of that is the cost model's to say.
void shard_by_layer(const TrainingRun& run, Plan& plan) {
  const ParameterCounts counts = parameter_counts(run);
  const double layer = (counts.total - counts.embedding - counts.head) /
                       static_cast<double>(run.shape.layers) / run.tp;
  plan.bucket_size = Bytes(std::llround(layer) * size_of(plan.precision.gradient).count());
  plan.gather_prefetch = 0;
  plan.gather_residency = 0;
}

/// What frameworks do where a run names no order, and the names that records have for orders.
std::string schedule_of(const TrainingRun& run) {
  if (run.schedule.empty()) {
    return run.virtual_stages > 1 ? "interleaved-1f1b" : "1f1b";
  }
  if (run.schedule == "zero-bubble") {
    return "zb-h1";
  }
  if (run.schedule == "interleaved-zero-bubble") {
    return run.schedule;
  }
  return run.schedule.find("interleaved") == std::string::npos ? run.schedule : "interleaved-1f1b";
}

}  // namespace

Result<LoweredRun> lowered_run(const TrainingSetup& stated, const StepConstants& constants) {
  auto schedule = find_schedule(schedule_of(stated.run));
  if (!schedule) {
    return pass_on(std::move(schedule));
  }
  TrainingSetup setup = stated;
  if (setup.run.pp > 1 && setup.run.virtual_stages == 1) {
    // Records name orders of two stages a rank (ZB-V, DualPipeV) without saying so again.
    setup.run.virtual_stages = schedule->default_virtual_stages;
  }
  const TrainingRun& run = setup.run;
  const RunChoices choices = choices_of(setup);
  if (auto able = check_expressible(setup, choices); !able) {
    return pass_on(std::move(able));
  }
  TransformerShape shape = run.shape;
  shape.max_sequence = std::max(shape.max_sequence, run.sequence);
  shape.vocabulary = std::llround(padded_vocabulary(run, setup.framework));
  if (run.experts) {
    shape.experts = run.experts->experts;
    shape.experts_per_token = run.experts->per_token;
    shape.feed_forward = run.experts->feed_forward;
  }
  auto model = make_transformer("model", "gpt2", shape);
  if (!model) {
    return pass_on(std::move(model));
  }
  auto stages = stages_of(run, rank_layers_of(setup, constants), choices.recompute);
  if (!stages) {
    return pass_on(std::move(stages));
  }
  LoweredRun lowered{.model = *std::move(model), .cluster = cluster_of(setup), .plan = {}};
  Plan& plan = lowered.plan;
  plan.stages = *std::move(stages);
  plan.virtual_stages = run.virtual_stages;
  plan.cp = run.cp;
  plan.ep = run.ep;
  plan.sequence = static_cast<std::int32_t>(run.sequence);
  plan.micro_batch_size = run.micro_batch;
  plan.micro_batches = static_cast<std::int32_t>(run.micro_batches);
  plan.schedule = schedule->name;
  plan.sequence_parallel = choices.sequence_parallel;
  plan.zero_stage = run.zero_stage;
  plan.precision.compute = compute_type(run);
  plan.precision.gradient =
      choices.gradient_32 ? DType::kFloat32
      : plan.precision.compute == DType::kFloat32 || plan.precision.compute == DType::kTf32
          ? DType::kFloat32
      : plan.precision.compute == DType::kFloat8 ? DType::kBFloat16
                                                 : plan.precision.compute;
  if (plan.zero_stage == 3) {
    shard_by_layer(run, plan);
  }
  return lowered;
}

Result<Duration> static_step_time(const TrainingSetup& setup, const StepConstants& constants) {
  const auto lowered = lowered_run(setup, constants);
  if (!lowered) {
    return tl::unexpected<Error>(lowered.error());
  }
  const auto schedule = lower(lowered->model,
                              lowered->cluster,
                              lowered->plan,
                              repeat_rules(setup.framework, choices_of(setup).flash));
  if (!schedule) {
    return tl::unexpected<Error>(schedule.error());
  }
  TrainingSetup priced = setup;
  priced.run.shape = lowered->model.shape;
  const auto cost = make_calibrated_cost(constants, priced);
  const auto simulation =
      simulate(*schedule, lowered->cluster, *cost, {.trace = TraceDetail::kNone});
  if (!simulation) {
    return tl::unexpected<Error>(simulation.error());
  }
  return simulation->summary.step_time;
}

}  // namespace stagewright
