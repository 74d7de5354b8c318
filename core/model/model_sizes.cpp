#include "core/model/model_sizes.h"

namespace stagewright {
namespace {

std::int64_t latent_attention(const ModelSizes& sizes, const LatentSizes& latent) {
  const std::int64_t head = latent.plain_dim + latent.rope_dim;
  const std::int64_t query = latent.query_rank ? sizes.hidden * *latent.query_rank +
                                                     *latent.query_rank * sizes.heads * head
                                               : sizes.hidden * sizes.heads * head;
  const std::int64_t key_value =
      sizes.hidden * (latent.key_value_rank + latent.rope_dim) +
      latent.key_value_rank * sizes.heads * (latent.plain_dim + latent.value_dim);
  return query + key_value + sizes.heads * latent.value_dim * sizes.hidden;
}

/// One attention, without norms.
std::int64_t attention(const ModelSizes& sizes) {
  if (sizes.latent) {
    return latent_attention(sizes, *sizes.latent);
  }
  const std::int64_t query = sizes.heads * sizes.head_dim;
  const std::int64_t key_value = 2 * sizes.kv_heads * sizes.head_dim;
  return sizes.hidden * (query + key_value) + query * sizes.hidden +
         (sizes.qkv_bias ? query + key_value : 0) + (sizes.output_bias ? sizes.hidden : 0);
}

std::int64_t mlp(const ModelSizes& sizes, std::int64_t inner) {
  const std::int64_t columns = sizes.gated ? 2 : 1;
  return (columns + 1) * sizes.hidden * inner +
         (sizes.mlp_bias ? columns * inner + sizes.hidden : 0);
}

/// Norms of one layer beside the usual ones: of queries and keys, of compressed forms.
std::int64_t inner_norms(const ModelSizes& sizes) {
  std::int64_t count = sizes.head_norm ? 2 * sizes.head_dim : 0;
  if (sizes.latent) {
    count += sizes.latent->query_rank.value_or(0) + sizes.latent->key_value_rank;
  }
  return count;
}

std::int64_t embedding(const ModelSizes& sizes) {
  const std::int64_t width = sizes.embedding_width > 0 ? sizes.embedding_width : sizes.hidden;
  const bool projected = width != sizes.hidden;
  return sizes.vocabulary * width + (projected ? 2 * width * sizes.hidden : 0) +
         (sizes.positions + sizes.segments) * sizes.hidden;
}

std::int64_t head(const ModelSizes& sizes) {
  const std::int64_t square = sizes.hidden * sizes.hidden + sizes.hidden;
  std::int64_t count = sizes.pooler ? square : 0;
  if (!sizes.has_head) {
    return count;
  }
  count += sizes.tied ? 0 : sizes.vocabulary * sizes.hidden;
  count += sizes.head_bias ? sizes.vocabulary : 0;
  return count + (sizes.head_transform ? square + sizes.norm_vectors * sizes.hidden : 0);
}

}  // namespace

SizeCounts parameter_counts(const ModelSizes& sizes) {
  const std::int64_t norm = sizes.norm_vectors * sizes.hidden;
  const bool two_sided = sizes.encoder_layers > 0;
  const std::int64_t layers = sizes.layers + sizes.encoder_layers;
  const std::int64_t sparse = sizes.experts ? sizes.experts->sparse_layers : 0;
  SizeCounts counts;
  counts.embedding = embedding(sizes);
  // A decoder behind an encoder has a second attention, with a norm, in each layer.
  const std::int64_t attentions = layers + (two_sided ? sizes.layers : 0);
  const std::int64_t tables = two_sided ? 2 : 1;
  counts.attention = attentions * attention(sizes) + tables * sizes.relative_buckets * sizes.heads;
  counts.mlp = (layers - sparse) * mlp(sizes, sizes.feed_forward);
  counts.norms =
      layers * (sizes.norms * norm + inner_norms(sizes)) + (two_sided ? sizes.layers * norm : 0) +
      (sizes.final_norm ? (two_sided ? 2 : 1) * norm : 0) + (sizes.embedding_norm ? norm : 0);
  std::int64_t idle = 0;
  if (sizes.experts) {
    const ExpertSizes& experts = *sizes.experts;
    const std::int64_t one = mlp(sizes, experts.feed_forward);
    counts.experts = sparse * experts.experts * one;
    counts.routers =
        sparse * (experts.experts * sizes.hidden + (experts.score_bias ? experts.experts : 0) +
                  (experts.shared_gate ? sizes.hidden : 0));
    if (experts.shared_feed_forward > 0) {
      counts.mlp += sparse * mlp(sizes, experts.shared_feed_forward);
    }
    idle = sparse * (experts.experts - experts.per_token) * one;
  }
  counts.head = head(sizes);
  counts.total = counts.embedding + counts.attention + counts.mlp + counts.experts +
                 counts.routers + counts.norms + counts.head;
  counts.active = counts.total - idle;
  return counts;
}

}  // namespace stagewright
