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

/// Whether the stages can hold the layers.  A plan that lists the layers of every rank has been
/// checked already.
Result<void> check_stages(const TrainingRun& run) {
  const std::int64_t layers = run.shape.layers;
  const std::int64_t stages = std::int64_t{run.pp} * run.virtual_stages;
  if (run.pp == 1 || !run.rank_layers.empty()) {
    return {};
  }
  const std::int64_t ends = std::int64_t{run.first_stage_layers.value_or(0)} +
                            std::int64_t{run.last_stage_layers.value_or(0)};
  if (run.first_stage_layers || run.last_stage_layers) {
    return require(ends <= layers,
                   "plan.layers_first_stage",
                   fmt::format("the first and last stage hold {} of {} layers", ends, layers));
  }
  if (run.virtual_stages == 1) {
    return require(
        run.pp <= layers, "plan.pp", fmt::format("{} stages, but only {} layers", run.pp, layers));
  }
  // Interleaving deals equal chunks.  Embedding and head may count as a layer each, and so may the
  // layer that predicts one more token in models with latent attention.
  const bool divides = layers % stages == 0 || (layers + 2) % stages == 0 ||
                       (run.latent_attention && (layers + 3) % stages == 0);
  return require(divides,
                 "plan.vpp",
                 fmt::format("{} virtual stages x pp {} divide neither {} layers nor the {} with "
                             "embedding and head",
                             run.virtual_stages,
                             run.pp,
                             layers,
                             layers + 2));
}

Result<void> check_encoder(const TrainingRun& run) {
  if (!run.encoder) {
    return {};
  }
  if (auto ok = require(run.encoder->layers >= 1, "model.encoder_layers", "is not positive"); !ok) {
    return ok;
  }
  if (auto ok = require(run.encoder->sequence >= 1, "model.encoder_seq_len", "is not positive");
      !ok) {
    return ok;
  }
  if (auto ok = require(
          run.encoder->sequence % run.cp == 0,
          "plan.cp",
          fmt::format(
              "{} does not divide an encoder's sequence of {}", run.cp, run.encoder->sequence));
      !ok) {
    return ok;
  }
  return require(!run.experts && !run.latent_attention,
                 "model.encoder_layers",
                 "experts and latent attention are not known of models with an encoder");
}

Result<void> check_experts(const TrainingRun& run) {
  if (!run.experts) {
    return require(
        run.ep == 1, "plan.ep", fmt::format("{}, but the model has no experts to divide", run.ep));
  }
  const ExpertShape& experts = *run.experts;
  if (auto ok = require(experts.experts % run.ep == 0,
                        "plan.ep",
                        fmt::format("{} does not divide {} experts", run.ep, experts.experts));
      !ok) {
    return ok;
  }
  const std::int64_t ranks = std::int64_t{run.dp} * run.cp * run.tp;
  const std::int64_t wanted = std::int64_t{run.ep} * run.expert_tp.value_or(1);
  if (auto ok = require(wanted <= ranks,
                        "plan.ep",
                        fmt::format("needs {} ranks of a stage, which has {}", wanted, ranks));
      !ok) {
    return ok;
  }
  if (auto ok = require(experts.per_token >= 1 && experts.per_token <= experts.experts,
                        "model.moe.topk",
                        fmt::format("{} of {} experts", experts.per_token, experts.experts));
      !ok) {
    return ok;
  }
  return require(experts.dense_layers < run.shape.layers,
                 "model.moe.dense_layers",
                 "leaves no layer for the experts");
}

}  // namespace

double tokens_of(const TrainingRun& run) {
  return static_cast<double>(run.micro_batch) * static_cast<double>(run.sequence) / run.cp;
}

double recomputed_share(const TrainingRun& run) {
  double share = 1.0 / run.recomputed.every;
  if (run.recomputed.block > 0) {
    const double stages = double{1} * run.pp * run.virtual_stages;
    share *= std::min(1.0, run.recomputed.block * stages / static_cast<double>(run.shape.layers));
  }
  return share;
}

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
  if (run.encoder) {
    const auto encoders = static_cast<double>(run.encoder->layers);
    // Its own layers and last norm; the decoder's second attention with a norm.
    dense += encoders * (attention_parameters(run) + 2 * norm +
                         mlp_parameters(shape, static_cast<double>(shape.feed_forward))) +
             norm + layers * (attention_parameters(run) + norm);
    visited = dense;
  }
  counts.total = ends + common + dense + counts.expert;
  counts.active = ends + common + visited;
  return counts;
}

TrainingRun encoder_of(const TrainingRun& run) {
  TrainingRun encoder = run;
  encoder.shape.layers = run.encoder->layers;
  encoder.sequence = run.encoder->sequence;
  encoder.encoder.reset();
  encoder.causal = false;
  return encoder;
}

namespace {

Result<void> check_positive(const TrainingRun& run) {
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
  return require(degrees >= 1, "plan", "a degree or batch size is not positive");
}

}  // namespace

Result<void> check(const TrainingRun& run) {
  const TransformerShape& shape = run.shape;
  if (auto ok = check_positive(run); !ok) {
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
  if (auto ok = require(shape.kv_heads % run.tp == 0 || run.tp % shape.kv_heads == 0,
                        "plan.tp",
                        fmt::format("{} neither divides {} key-value heads nor is a multiple of "
                                    "them",
                                    run.tp,
                                    shape.kv_heads));
      !ok) {
    return ok;
  }
  if (auto ok = require(run.sequence % run.cp == 0,
                        "plan.cp",
                        fmt::format("{} does not divide a sequence of {}", run.cp, run.sequence));
      !ok) {
    return ok;
  }
  const std::int64_t replicas = std::int64_t{run.dp} * run.cp;
  if (auto ok = require(run.shard_group == 0 || replicas % run.shard_group == 0,
                        "plan.zero_group",
                        fmt::format("{} does not divide dp x cp = {}", run.shard_group, replicas));
      !ok) {
    return ok;
  }
  const RecomputedLayers& again = run.recomputed;
  if (auto ok = require(again.block >= 0 && again.every >= 1 && again.checkpoint >= 1,
                        "plan.recompute",
                        "numbers of layers are at least 1");
      !ok) {
    return ok;
  }
  if (auto ok = check_stages(run); !ok) {
    return ok;
  }
  if (auto ok = check_encoder(run); !ok) {
    return ok;
  }
  return check_experts(run);
}

}  // namespace stagewright
