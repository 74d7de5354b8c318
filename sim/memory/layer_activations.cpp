#include "sim/memory/layer_activations.h"

#include <algorithm>

#include "sim/memory/latent_attention.h"
#include "sim/memory/stage_parameters.h"

namespace stagewright {
namespace {

/// Bytes of an activation's element.
double element(const TrainingRun& run) {
  const bool wide = run.format == MatrixFormat::kFloat32 || run.format == MatrixFormat::kTf32;
  return wide ? 4 : 2;
}

bool is_compiled(const TrainingRun& run) {
  return run.compiled.value_or(false);
}

bool uses_flash_attention(const TrainingRun& run, const FrameworkProfile& framework) {
  return run.flash_attention.value_or(framework.flash_attention);
}

bool drops_out(const TrainingRun& run, const FrameworkProfile& framework) {
  return framework.memory.dropout && run.shape.activation != OpVariant::kSwiGlu;
}

double attention_bytes(const TrainingRun& run) {
  const TransformerShape& shape = run.shape;
  const double heads = static_cast<double>(shape.heads) / run.tp;
  const auto head_dim = static_cast<double>(shape.head_dim);
  if (run.latent_attention) {
    const double query = heads * (head_dim + LatentAttention::kRope);
    const double value = heads * head_dim;
    // Both compressed forms before and after their norms; query, up-projected keys and values, the
    // keys with their shared rotary part appended, context.
    const double compressed =
        2 * (LatentAttention::kQueryRank + LatentAttention::kKeyValueRank) + LatentAttention::kRope;
    return element(run) * (compressed + query + 2 * value + query + value);
  }
  const double key_value = std::max(static_cast<double>(shape.kv_heads) / run.tp, 1.0);
  return element(run) * head_dim * (2 * heads + 2 * key_value);
}

/// Without flash attention: the softmax's output, with dropout its mask (one byte) and result too;
/// unfused, the scores before and the softmax in fp32 as well.
double score_bytes(const TrainingRun& run, const FrameworkProfile& framework) {
  double each = element(run);
  if (drops_out(run, framework)) {
    each += 1 + element(run);
  }
  if (!framework.fused_softmax && !is_compiled(run)) {
    each += 2 * element(run);
  }
  return each * static_cast<double>(run.shape.heads) / run.tp * static_cast<double>(run.sequence);
}

/// What a decoder's layer keeps for its attention to the encoder's output: another norm and mask,
/// query and context; per token that the encoder reads, key and value, and a share of its output.
void add_cross_attention(LayerActivations& kept,
                         const TrainingRun& run,
                         const FrameworkProfile& framework) {
  const TransformerShape& shape = run.shape;
  const double read =
      static_cast<double>(run.encoder->sequence) / static_cast<double>(run.sequence);
  const double heads = static_cast<double>(shape.heads) / run.tp;
  const double key_value = std::max(static_cast<double>(shape.kv_heads) / run.tp, 1.0);
  const auto head_dim = static_cast<double>(shape.head_dim);
  kept.norms *= 1.5;
  kept.norms += read * norm_output_bytes(run, framework) / static_cast<double>(shape.layers);
  kept.dropout *= 1.5;
  kept.attention += element(run) * head_dim * 2 * (heads + read * key_value);
  if (uses_flash_attention(run, framework)) {
    kept.attention += 4 * heads;
  } else {
    kept.scores += read * score_bytes(run, framework);
  }
}

/// Activation of that inner width on this rank: its input (gates and ups) and its output.
double activation_bytes(const TrainingRun& run, const FrameworkProfile& framework, double inner) {
  const bool gated = run.shape.activation == OpVariant::kSwiGlu;
  const bool fused = framework.fused_activation || is_compiled(run);
  // Eager gating keeps the activated gate beside gate, up and product.
  const double widths = gated ? (fused ? 3 : 4) : 2;
  return element(run) * widths * inner;
}

/// Routed copies of tokens: as sent, as received, as computed, as returned; inside the experts
/// their activation.  With sequence parallelism each tensor rank routes its own tokens, and a
/// divided expert sees those of all.
double expert_bytes(const TrainingRun& run, const FrameworkProfile& framework, bool divided) {
  const ExpertShape& experts = *run.experts;
  const double degree = expert_tensor_degree(run, framework);
  const double copies = static_cast<double>(experts.per_token) * (divided ? degree / run.tp : 1);
  const double inner = static_cast<double>(experts.feed_forward) / degree;
  const double rows = element(run) * 4 * static_cast<double>(run.shape.hidden);
  const double router = 8 * static_cast<double>(experts.experts) / (divided ? run.tp : 1);
  return copies * (rows + activation_bytes(run, framework, inner)) + router;
}

double checkpoint_bytes(const TrainingRun& run, const FrameworkProfile& framework) {
  const double width =
      static_cast<double>(run.shape.hidden) / (sequence_is_divided(run, framework) ? run.tp : 1);
  return element(run) * width;
}

/// The layer's input, attention's output and every other matrix product, counted from the first
/// (query, key, value, output, then the MLP's).
double kept_operations(const TrainingRun& run, const FrameworkProfile& framework) {
  const TransformerShape& shape = run.shape;
  const auto hidden = static_cast<double>(shape.hidden);
  const double query = static_cast<double>(shape.heads * shape.head_dim) / run.tp;
  const double value = static_cast<double>(shape.kv_heads * shape.head_dim) / run.tp;
  const double inner = static_cast<double>(shape.feed_forward) / run.tp;
  const bool gated = shape.activation == OpVariant::kSwiGlu;
  // query, value, then gate and output of a gated MLP, or up of a plain one.
  const double products = query + value + inner + (gated ? hidden : 0);
  return checkpoint_bytes(run, framework) + element(run) * (query + products);
}

}  // namespace

bool sequence_is_divided(const TrainingRun& run, const FrameworkProfile& framework) {
  return run.tp > 1 && run.sequence_parallel.value_or(framework.sequence_parallel);
}

double norm_output_bytes(const TrainingRun& run, const FrameworkProfile& framework) {
  const bool whole = framework.memory.keeps_gathered || !sequence_is_divided(run, framework);
  return element(run) * static_cast<double>(run.shape.hidden) / (whole ? 1 : run.tp);
}

LayerActivations layer_activations(const TrainingRun& run, const FrameworkProfile& framework) {
  const TransformerShape& shape = run.shape;
  const auto hidden = static_cast<double>(shape.hidden);
  const bool divided = sequence_is_divided(run, framework);
  const double share = divided ? 1.0 / run.tp : 1.0;
  LayerActivations kept;
  kept.norms = 2 * (element(run) * hidden * share + norm_output_bytes(run, framework));
  kept.dropout = drops_out(run, framework) ? 2 * hidden * share : 0;
  kept.attention = attention_bytes(run);
  if (uses_flash_attention(run, framework)) {
    kept.attention += 4 * static_cast<double>(shape.heads) / run.tp;
  } else {
    kept.scores = score_bytes(run, framework);
  }
  kept.mlp = activation_bytes(run, framework, static_cast<double>(shape.feed_forward) / run.tp);
  if (run.encoder) {
    add_cross_attention(kept, run, framework);
  }
  if (run.experts) {
    const double dense =
        static_cast<double>(run.experts->dense_layers) / static_cast<double>(shape.layers);
    kept.mlp *= dense;
    kept.mlp += (1 - dense) *
                activation_bytes(
                    run, framework, static_cast<double>(run.experts->shared_feed_forward) / run.tp);
    kept.experts = (1 - dense) * expert_bytes(run, framework, divided);
  }
  return kept;
}

namespace {

/// Layers that are recomputed from one kept input; those of a stage at most.
double layers_at_once(const TrainingRun& run) {
  const double stages = double{1} * run.pp * run.virtual_stages;
  const double stage = std::max(1.0, static_cast<double>(run.shape.layers) / stages);
  return std::min<double>(run.recomputed.checkpoint, stage);
}

}  // namespace

double kept_activations(const TrainingRun& run, const FrameworkProfile& framework) {
  const LayerActivations all = layer_activations(run, framework);
  switch (run.recompute.value_or(framework.recompute)) {
    case Recompute::kNone:
      return all.total();
    case Recompute::kFull: {
      const double share = recomputed_share(run);
      const double checkpoint = checkpoint_bytes(run, framework) / layers_at_once(run);
      return share * std::min(checkpoint, all.total()) + (1 - share) * all.total();
    }
    case Recompute::kSelective:
      break;
  }
  switch (run.selective) {
    case SelectiveKind::kAttentionCore:
      return all.total() - all.scores;
    case SelectiveKind::kOperations:
      return std::min(kept_operations(run, framework), all.total());
  }
  return all.total();
}

double activation_gradients(const TrainingRun& run, const FrameworkProfile& framework) {
  const double widths = run.shape.activation == OpVariant::kSwiGlu ? 3 : 2;
  double inner = static_cast<double>(run.shape.feed_forward) / run.tp;
  if (run.experts) {
    inner = static_cast<double>(run.experts->per_token * run.experts->feed_forward) /
            (sequence_is_divided(run, framework) ? run.tp : 1);
  }
  return checkpoint_bytes(run, framework) + element(run) * widths * inner;
}

double recomputed_activations(const TrainingRun& run, const FrameworkProfile& framework) {
  const LayerActivations all = layer_activations(run, framework);
  switch (run.recompute.value_or(framework.recompute)) {
    case Recompute::kNone:
      return 0;
    case Recompute::kFull:
      return all.total() * layers_at_once(run);
    case Recompute::kSelective:
      return run.selective == SelectiveKind::kAttentionCore ? all.scores : all.total();
  }
  return 0;
}

}  // namespace stagewright
