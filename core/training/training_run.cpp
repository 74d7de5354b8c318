#include "core/training/training_run.h"

#include <algorithm>

#include <fmt/format.h>

namespace stagewright {
namespace {

// Latent attention's ranks and head sizes (DeepSeek-V2, arXiv 2405.04434, section 3.1.2; V3 keeps
// them).
constexpr double kQueryRank = 1536;
constexpr double kKeyValueRank = 512;
constexpr double kRopeDim = 64;

double attention_parameters(const TrainingRun& run) {
  const TransformerShape& shape = run.shape;
  const auto hidden = static_cast<double>(shape.hidden);
  const auto width = static_cast<double>(shape.heads * shape.head_dim);
  if (run.latent_attention) {
    const double rope = static_cast<double>(shape.heads) * kRopeDim;
    return hidden * (kQueryRank + kKeyValueRank + kRopeDim) + kQueryRank * (width + rope) +
           kKeyValueRank * 2 * width + width * hidden;
  }
  const auto kv = static_cast<double>(shape.kv_heads * shape.head_dim);
  double count = hidden * (width + 2 * kv) + width * hidden;
  if (shape.qkv_bias) {
    count += width + 2 * kv;
  }
  return count + (shape.biases ? hidden : 0);
}

double mlp_parameters(const TransformerShape& shape, double inner) {
  const auto hidden = static_cast<double>(shape.hidden);
  const double columns = shape.activation == OpVariant::kSwiGlu ? 2 : 1;
  return hidden * inner * (columns + 1) + (shape.biases ? columns * inner + hidden : 0);
}

Result<void> require(bool holds, std::string where, std::string message) {
  if (!holds) {
    return fail(ErrorCode::kInvalidInput, std::move(message), std::move(where));
  }
  return {};
}

}  // namespace

ParameterCounts parameter_counts(const TrainingRun& run) {
  const TransformerShape& shape = run.shape;
  const auto hidden = static_cast<double>(shape.hidden);
  const auto layers = static_cast<double>(shape.layers);
  const double norm = shape.norm == OpVariant::kLayerNorm ? 2 * hidden : hidden;
  const double table = static_cast<double>(shape.vocabulary) * hidden;
  ParameterCounts counts;
  counts.embedding =
      table + (shape.learned_positions ? static_cast<double>(run.sequence) * hidden : 0);
  counts.head = shape.tied_embeddings ? 0 : table;
  const double common = layers * (attention_parameters(run) + 2 * norm) + norm;
  double dense = layers * mlp_parameters(shape, static_cast<double>(shape.feed_forward));
  double visited = dense;
  if (run.experts) {
    const ExpertShape& experts = *run.experts;
    const double sparse = layers - static_cast<double>(experts.dense_layers);
    const double one = mlp_parameters(shape, static_cast<double>(experts.feed_forward));
    const double shared =
        experts.shared_feed_forward > 0
            ? mlp_parameters(shape, static_cast<double>(experts.shared_feed_forward))
            : 0;
    const double router = hidden * static_cast<double>(experts.experts);
    dense = static_cast<double>(experts.dense_layers) *
                mlp_parameters(shape, static_cast<double>(shape.feed_forward)) +
            sparse * (shared + router);
    counts.expert = sparse * one * static_cast<double>(experts.experts);
    visited = dense + sparse * one * static_cast<double>(experts.per_token);
  }
  const double ends = counts.embedding + counts.head;
  counts.total = ends + common + dense + counts.expert;
  counts.active = ends + common + visited;
  return counts;
}

Result<void> check(const TrainingRun& run) {
  const TransformerShape& shape = run.shape;
  const std::int64_t smallest = std::min({shape.layers,
                                          shape.hidden,
                                          shape.heads,
                                          shape.kv_heads,
                                          shape.head_dim,
                                          shape.feed_forward,
                                          shape.vocabulary,
                                          run.sequence});
  const std::int64_t degrees = std::min({std::int64_t{run.dp},
                                         std::int64_t{run.tp},
                                         std::int64_t{run.pp},
                                         std::int64_t{run.cp},
                                         std::int64_t{run.ep},
                                         std::int64_t{run.virtual_stages},
                                         std::int64_t{run.micro_batch},
                                         run.micro_batches});
  if (auto ok = require(smallest >= 1, "model", "a size is not positive"); !ok) {
    return ok;
  }
  if (auto ok = require(degrees >= 1, "plan", "a degree or batch size is not positive"); !ok) {
    return ok;
  }
  if (auto ok = require(shape.heads % shape.kv_heads == 0,
                        "model.kv_heads",
                        fmt::format("{} do not divide {} heads", shape.kv_heads, shape.heads));
      !ok) {
    return ok;
  }
  if (auto ok = require(shape.heads % run.tp == 0,
                        "plan.tp",
                        fmt::format("{} does not divide {} heads", run.tp, shape.heads));
      !ok) {
    return ok;
  }
  if (auto ok = require(std::int64_t{run.pp} * run.virtual_stages <= shape.layers + 2,
                        "plan.pp",
                        fmt::format("{} x {} virtual stages, but only {} layers and two ends",
                                    run.pp,
                                    run.virtual_stages,
                                    shape.layers));
      !ok) {
    return ok;
  }
  if (!run.experts) {
    return {};
  }
  if (auto ok = require(run.experts->experts % run.ep == 0,
                        "plan.ep",
                        fmt::format("{} does not divide {} experts", run.ep, run.experts->experts));
      !ok) {
    return ok;
  }
  return require(run.experts->dense_layers < shape.layers,
                 "model.moe.dense_layers",
                 "leaves no layer for the experts");
}

}  // namespace stagewright
