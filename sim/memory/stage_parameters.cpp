#include "sim/memory/stage_parameters.h"

#include <algorithm>
#include <cmath>

#include "sim/memory/latent_attention.h"
#include "sim/memory/rank_layers.h"

namespace stagewright {
namespace {

double norm_parameters(const TransformerShape& shape) {
  return static_cast<double>(shape.norm == OpVariant::kLayerNorm ? 2 * shape.hidden : shape.hidden);
}

double attention_parameters(const TrainingRun& run) {
  const TransformerShape& shape = run.shape;
  const auto hidden = static_cast<double>(shape.hidden);
  const double tp = run.tp;
  const auto width = static_cast<double>(shape.heads * shape.head_dim) / tp;
  if (run.latent_attention) {
    const double heads = static_cast<double>(shape.heads) / tp;
    const double head_dim = static_cast<double>(shape.head_dim);
    return hidden * (LatentAttention::kQueryRank + LatentAttention::kKeyValueRank +
                     LatentAttention::kRope) +
           LatentAttention::kQueryRank * heads * (head_dim + LatentAttention::kRope) +
           LatentAttention::kKeyValueRank * 2 * width + width * hidden +
           LatentAttention::kQueryRank + LatentAttention::kKeyValueRank;
  }
  const double key_value =
      std::max(static_cast<double>(shape.kv_heads) / tp, 1.0) * static_cast<double>(shape.head_dim);
  double count = hidden * (width + 2 * key_value) + width * hidden;
  if (shape.qkv_bias) {
    count += width + 2 * key_value;
  }
  return count + (shape.biases ? hidden : 0);
}

/// A gated or plain MLP of that inner width, divided by `degree`.
double mlp_parameters(const TransformerShape& shape, double inner, double degree) {
  const auto hidden = static_cast<double>(shape.hidden);
  const double columns = shape.activation == OpVariant::kSwiGlu ? 2 : 1;
  const double matrices = (columns + 1) * hidden * inner / degree;
  return matrices + (shape.biases ? columns * inner / degree + hidden : 0);
}

double dense_mlp_share(const TrainingRun& run) {
  if (!run.experts) {
    return 1;
  }
  return static_cast<double>(run.experts->dense_layers) / static_cast<double>(run.shape.layers);
}

}  // namespace

double padded_vocabulary(const TrainingRun& run, const FrameworkProfile& framework) {
  const auto multiple = static_cast<double>(framework.pad_vocabulary * run.tp);
  return std::ceil(static_cast<double>(run.shape.vocabulary) / multiple) * multiple;
}

std::int32_t expert_tensor_degree(const TrainingRun& run, const FrameworkProfile& framework) {
  return run.expert_tp.value_or(framework.experts_divided_by_tensor ? run.tp : 1);
}

double expert_replicas(const TrainingRun& run, const FrameworkProfile& framework) {
  const double ranks = static_cast<double>(run.dp) * run.cp * run.tp;
  return std::max(1.0, ranks / run.ep / expert_tensor_degree(run, framework));
}

StageParameters layer_parameters(const TrainingRun& run, const FrameworkProfile& framework) {
  const TransformerShape& shape = run.shape;
  const double dense = dense_mlp_share(run);
  StageParameters layer;
  layer.dense = attention_parameters(run) + 2 * norm_parameters(shape) +
                dense * mlp_parameters(shape, static_cast<double>(shape.feed_forward), run.tp);
  if (run.encoder) {
    const double share =
        static_cast<double>(run.encoder->layers) / static_cast<double>(shape.layers);
    layer.dense += share * layer.dense + attention_parameters(run) + norm_parameters(shape);
  }
  if (run.experts) {
    const ExpertShape& experts = *run.experts;
    const auto count = static_cast<double>(experts.experts);
    layer.dense += (1 - dense) * static_cast<double>(shape.hidden) * count;
    if (experts.shared_feed_forward > 0) {
      layer.dense +=
          (1 - dense) *
          mlp_parameters(shape, static_cast<double>(experts.shared_feed_forward), run.tp);
    }
    layer.expert =
        (1 - dense) * count / run.ep *
        mlp_parameters(
            shape, static_cast<double>(experts.feed_forward), expert_tensor_degree(run, framework));
  }
  return layer;
}

StageParameters stage_parameters(const TrainingRun& run,
                                 const FrameworkProfile& framework,
                                 std::int32_t rank) {
  return stage_parameters(run, framework, layer_parameters(run, framework), rank);
}

StageParameters stage_parameters(const TrainingRun& run,
                                 const FrameworkProfile& framework,
                                 const StageParameters& layer,
                                 std::int32_t rank) {
  const TransformerShape& shape = run.shape;
  const auto layers = static_cast<double>(layers_on_rank(run, framework, rank));
  StageParameters stage{.dense = layers * layer.dense, .expert = layers * layer.expert};
  const auto hidden = static_cast<double>(shape.hidden);
  const double table = padded_vocabulary(run, framework) * hidden / run.tp;
  const auto rows = static_cast<double>(std::max(run.sequence, shape.max_sequence));
  const double positions = shape.learned_positions ? rows * hidden : 0;
  const bool divided = run.vocabulary_placement == VocabularyPlacement::kAllStages ||
                       run.vocabulary_placement == VocabularyPlacement::kAllStagesOnce ||
                       run.vocabulary_placement == VocabularyPlacement::kInterlaced;
  const bool first = rank == 0;
  const bool last = rank == run.pp - 1;
  if (divided) {
    stage.root = (shape.tied_embeddings ? 1 : 2) * table / run.pp;
  } else if (first && last) {
    stage.root = (shape.tied_embeddings ? 1 : 2) * table;
  } else if (first || last) {
    stage.root = table;
  }
  if (run.encoder && first) {
    stage.dense += norm_parameters(shape);
  }
  stage.dense += stage.root + (first ? positions : 0) + (last ? norm_parameters(shape) : 0);
  return stage;
}

}  // namespace stagewright
