#include "core/training/run_sizes.h"

#include <algorithm>
#include <utility>

namespace stagewright {
namespace {

/// Transformer layers of a rank's stages; the embedding is the model's first layer, the head its
/// last.
std::int32_t blocks_on_rank(const Plan& plan, const TransformerShape& shape, std::int32_t rank) {
  std::int64_t blocks = 0;
  for (std::size_t i = static_cast<std::size_t>(rank); i < plan.stages.size();
       i += static_cast<std::size_t>(plan.pp())) {
    const StagePlan& stage = plan.stages[i];
    const std::int64_t begin = std::max<std::int64_t>(stage.first_layer, 1);
    const std::int64_t end =
        std::min<std::int64_t>(stage.first_layer + stage.layers, shape.layers + 1);
    blocks += std::max<std::int64_t>(end - begin, 0);
  }
  return static_cast<std::int32_t>(blocks);
}

MatrixFormat format_of(DType compute) {
  if (compute == DType::kFloat32) {
    return MatrixFormat::kFloat32;
  }
  return compute == DType::kFloat16 ? MatrixFormat::kFloat16 : MatrixFormat::kBFloat16;
}

}  // namespace

ModelSizes sizes_of(std::string name, std::string family, const TransformerShape& shape) {
  ModelSizes sizes;
  sizes.name = std::move(name);
  sizes.family = std::move(family);
  sizes.layers = shape.layers;
  sizes.hidden = shape.hidden;
  sizes.heads = shape.heads;
  sizes.kv_heads = shape.kv_heads;
  sizes.head_dim = shape.head_dim;
  sizes.feed_forward = shape.feed_forward;
  sizes.vocabulary = shape.vocabulary;
  sizes.max_sequence = shape.max_sequence;
  sizes.positions = shape.learned_positions ? shape.max_sequence : 0;
  sizes.norm_vectors = shape.norm == OpVariant::kLayerNorm ? 2 : 1;
  sizes.gated = shape.activation == OpVariant::kSwiGlu;
  sizes.qkv_bias = shape.qkv_bias;
  sizes.output_bias = shape.biases;
  sizes.mlp_bias = shape.biases;
  sizes.tied = shape.tied_embeddings;
  return sizes;
}

Result<TrainingRun> run_of(const ModelSizes& sizes) {
  TrainingRun run;
  TransformerShape& shape = run.shape;
  shape.layers = sizes.layers;
  shape.hidden = sizes.hidden;
  shape.heads = sizes.heads;
  shape.kv_heads = sizes.kv_heads;
  shape.head_dim = sizes.head_dim;
  shape.feed_forward = sizes.feed_forward;
  shape.vocabulary = sizes.vocabulary;
  shape.max_sequence = sizes.max_sequence;
  shape.norm = sizes.norm_vectors == 2 ? OpVariant::kLayerNorm : OpVariant::kRmsNorm;
  shape.activation = sizes.gated ? OpVariant::kSwiGlu : OpVariant::kGelu;
  shape.learned_positions = sizes.positions > 0;
  shape.biases = sizes.mlp_bias;
  shape.qkv_bias = sizes.qkv_bias;
  shape.tied_embeddings = sizes.tied;
  run.sequence = sizes.max_sequence;
  if (sizes.encoder_layers > 0) {
    run.encoder = EncoderShape{.layers = sizes.encoder_layers, .sequence = sizes.max_sequence};
  }
  run.latent_attention = sizes.latent.has_value();
  if (sizes.experts) {
    run.experts = ExpertShape{.experts = sizes.experts->experts,
                              .per_token = sizes.experts->per_token,
                              .feed_forward = sizes.experts->feed_forward,
                              .shared_feed_forward = sizes.experts->shared_feed_forward,
                              .dense_layers = sizes.layers - sizes.experts->sparse_layers};
  }
  return run;
}

TrainingRun run_of(const Plan& plan, const TransformerShape& shape) {
  const StagePlan& first = plan.stages.front();
  TrainingRun run;
  run.shape = shape;
  run.sequence = plan.sequence;
  run.dp = first.dp;
  run.tp = first.tp;
  run.pp = plan.pp();
  run.virtual_stages = plan.virtual_stages;
  run.cp = plan.cp;
  run.ep = plan.ep;
  run.micro_batch = plan.micro_batch_size;
  run.micro_batches = plan.micro_batches;
  run.sequence_parallel = plan.sequence_parallel;
  run.zero_stage = plan.zero_stage;
  run.recompute = first.recompute;
  run.schedule = plan.schedule;
  run.format = format_of(plan.precision.compute);
  run.half_precision = plan.precision.compute == DType::kFloat16;
  run.gradient_32 = plan.precision.gradient == DType::kFloat32;
  run.master_weights = plan.precision.master_weights;
  if (run.pp > 1) {
    run.first_stage_layers = blocks_on_rank(plan, shape, 0);
    run.last_stage_layers = blocks_on_rank(plan, shape, run.pp - 1);
    for (std::int32_t rank = 0; rank < run.pp; ++rank) {
      run.rank_layers.push_back(blocks_on_rank(plan, shape, rank));
    }
  }
  return run;
}

}  // namespace stagewright
