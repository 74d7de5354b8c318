#include "sim/memory/rank_layers.h"

#include <algorithm>
#include <cmath>

namespace stagewright {
namespace {

/// Multiply-adds per token of a layer's products.
double layer_products(const TrainingRun& run) {
  const TransformerShape& shape = run.shape;
  const auto hidden = static_cast<double>(shape.hidden);
  const auto width = static_cast<double>(shape.heads * shape.head_dim);
  const auto key_value = static_cast<double>(shape.kv_heads * shape.head_dim);
  const double columns = shape.activation == OpVariant::kSwiGlu ? 3 : 2;
  const double inner =
      run.experts ? static_cast<double>(run.experts->per_token * run.experts->feed_forward +
                                        run.experts->shared_feed_forward)
                  : static_cast<double>(shape.feed_forward);
  return hidden * (2 * width + 2 * key_value) + columns * hidden * inner;
}

double head_products(const TrainingRun& run) {
  return static_cast<double>(run.shape.hidden) * static_cast<double>(run.shape.vocabulary);
}

/// Layers on the ranks up to and with `rank`, cut by floating-point operations.
std::int64_t layers_until(const TrainingRun& run, std::int32_t rank) {
  const std::int64_t all = run.shape.layers;
  if (rank >= run.pp - 1) {
    return all;
  }
  const double layer = layer_products(run);
  const double total = layer * static_cast<double>(all) + head_products(run);
  const double share = total * (rank + 1) / run.pp;
  return std::min(all, static_cast<std::int64_t>(std::floor(share / layer)) + 1);
}

/// `layers` over `ranks`, the first ones one larger.
std::int64_t even_share(std::int64_t layers, std::int32_t ranks, std::int32_t rank) {
  return layers / ranks + (rank < layers % ranks ? 1 : 0);
}

/// Layers that the last rank keeps beside the head.
std::int64_t layers_beside_head(const TrainingRun& run) {
  // A causal layer's attention costs half of 2 s h multiply-adds for scores and context each.
  const double layer = layer_products(run) +
                       static_cast<double>(run.sequence * run.shape.heads * run.shape.head_dim);
  const double head = head_products(run);
  std::int64_t best = 0;
  double least = 0;
  for (std::int64_t kept = 0; kept <= run.shape.layers / run.pp; ++kept) {
    const std::int64_t others = (run.shape.layers - kept + run.pp - 2) / std::max(run.pp - 1, 1);
    const double longest =
        std::max(static_cast<double>(others) * layer, static_cast<double>(kept) * layer + head);
    if (kept == 0 || longest <= least) {
      best = kept;
      least = longest;
    }
  }
  return best;
}

std::int64_t redistributed(const TrainingRun& run, std::int32_t rank) {
  const std::int64_t kept = layers_beside_head(run);
  if (rank == run.pp - 1) {
    return kept;
  }
  // The first rank holds the embedding and the most micro-batches: it is the last to get one more.
  return even_share(run.shape.layers - kept, run.pp - 1, run.pp - 2 - rank);
}

std::int64_t with_given_ends(const TrainingRun& run, std::int32_t rank) {
  const std::int64_t first = run.first_stage_layers.value_or(0);
  const std::int64_t last = run.last_stage_layers.value_or(0);
  if (rank == 0 && run.first_stage_layers) {
    return first;
  }
  if (rank == run.pp - 1 && run.last_stage_layers) {
    return last;
  }
  const std::int32_t before = run.first_stage_layers ? 1 : 0;
  const std::int32_t ranks = run.pp - before - (run.last_stage_layers ? 1 : 0);
  return even_share(std::max<std::int64_t>(run.shape.layers - first - last, 0),
                    std::max(ranks, 1),
                    rank - before);
}

}  // namespace

std::int64_t layers_on_rank(const TrainingRun& run,
                            const FrameworkProfile& framework,
                            std::int32_t rank) {
  const std::int64_t all = run.shape.layers;
  if (run.pp == 1) {
    return all;
  }
  if (static_cast<std::size_t>(rank) < run.rank_layers.size()) {
    return run.rank_layers[static_cast<std::size_t>(rank)];
  }
  if (run.first_stage_layers || run.last_stage_layers) {
    return with_given_ends(run, rank);
  }
  if (run.vocabulary_placement == VocabularyPlacement::kRedistributed) {
    return redistributed(run, rank);
  }
  if (framework.memory.stage_split == StageSplit::kByFlops) {
    return layers_until(run, rank) - (rank == 0 ? 0 : layers_until(run, rank - 1));
  }
  const bool slots = all % run.pp != 0 && (all + 2) % run.pp == 0 && (all + 2) / run.pp > 1;
  if (slots) {
    const bool end = rank == 0 || rank == run.pp - 1;
    return (all + 2) / run.pp - (end ? 1 : 0);
  }
  return even_share(all, run.pp, rank);
}

}  // namespace stagewright
