#include "sim/step/layer_time.h"

#include <algorithm>

#include "sim/cost/row_kernels.h"
#include "sim/memory/stage_parameters.h"

namespace stagewright {
namespace {

/// Sizes of a run as one rank sees them.
struct Sizes {
  double tokens;  ///< of a micro-batch on this rank
  double rows;    ///< tokens that its norms and residuals see
  double hidden;
  double query;     ///< width of the query heads on this rank
  double kv;        ///< width of keys, and of values
  double heads;     ///< on this rank
  double dim;       ///< of a head
  double batch;     ///< sequences
  double sequence;  ///< whole
  double queries;   ///< positions on this rank
};

Sizes sizes_of(const TrainingSetup& setup, const RunChoices& choices) {
  const TrainingRun& run = setup.run;
  const TransformerShape& shape = run.shape;
  Sizes sizes{};
  sizes.batch = run.micro_batch;
  sizes.sequence = static_cast<double>(run.sequence);
  sizes.queries = sizes.sequence / run.cp;
  sizes.tokens = sizes.batch * sizes.queries;
  sizes.rows = choices.sequence_parallel ? sizes.tokens / run.tp : sizes.tokens;
  sizes.hidden = static_cast<double>(shape.hidden);
  sizes.heads = static_cast<double>(shape.heads) / run.tp;
  sizes.dim = static_cast<double>(shape.head_dim);
  sizes.query = sizes.heads * sizes.dim;
  sizes.kv = std::max(1.0, static_cast<double>(shape.kv_heads) / run.tp) * sizes.dim;
  return sizes;
}

/// A linear layer (rows, inner) -> (rows, cols) with both of its gradients.
void add_linear(LayerTime& layer,
                const KernelRates& rates,
                double rate,
                double rows,
                double inner,
                double cols,
                double batch = 1) {
  layer.weights += inner * cols * batch;
  layer.forward.products += product_seconds(rates, rate, rows, inner, cols, batch);
  layer.backward.products += product_seconds(rates, rate, rows, cols, inner, batch) +
                             product_seconds(rates, rate, inner, rows, cols, batch);
  // Inputs and their gradients are converted; weights are converted once a step.
  const double bytes = batch * rows * rates.cast / rates.memory;
  layer.forward.elementwise += bytes * inner;
  layer.backward.elementwise += bytes * cols;
}

void add_bytes(PassTime& pass, const KernelRates& rates, double bytes, double kernels) {
  pass.elementwise += bytes / rates.memory + kernels * rates.kernel;
  pass.kernels += kernels;
}

/// Of queries and keys, whose heads are rearranged.
double moved_bytes(const RunChoices& choices, const KernelRates& rates, const Sizes& sizes) {
  return sizes.tokens * (sizes.query + sizes.kv) * rearrangement_bytes(rates, choices);
}

void add_scores(LayerTime& layer,
                const RunChoices& choices,
                const KernelRates& rates,
                const Sizes& sizes,
                double keys) {
  const ScoreShape shape{.matrices = sizes.batch * sizes.heads,
                         .queries = sizes.queries,
                         .keys = keys,
                         .head_dim = sizes.dim};
  layer.forward.attention += score_seconds(rates, choices, shape);
  layer.backward.attention += score_gradient_seconds(rates, choices, shape);
  layer.forward.kernels += score_kernels(choices);
  layer.backward.kernels += score_kernels(choices);
}

/// Latent attention's projections at the ranks of DeepSeek-V2 and V3 (arXiv 2405.04434,
/// 2412.19437).
void add_latent(LayerTime& layer, const KernelRates& rates, const Sizes& sizes) {
  constexpr double kQueryRank = 1536;
  constexpr double kKeyValueRank = 512;
  constexpr double kRopeDim = 64;
  add_linear(layer,
             rates,
             rates.product,
             sizes.tokens,
             sizes.hidden,
             kQueryRank + kKeyValueRank + kRopeDim);
  add_linear(
      layer, rates, rates.product, sizes.tokens, kQueryRank, sizes.heads * (sizes.dim + kRopeDim));
  add_linear(layer, rates, rates.product, sizes.tokens, kKeyValueRank, 2 * sizes.query);
  add_bytes(layer.forward, rates, 6 * rates.element * sizes.tokens * sizes.query, 8);
  add_bytes(layer.backward, rates, 8 * rates.element * sizes.tokens * sizes.query, 12);
}

/// Flash attention over keys of which a causal mask takes half.
void add_flash(LayerTime& layer,
               const KernelRates& rates,
               const Sizes& sizes,
               double keys,
               double head_dim,
               bool causal) {
  const double forward = sizes.batch * (causal ? 1 : 2) *
                         flash_seconds(rates, sizes.heads, sizes.queries, keys, head_dim);
  layer.forward.attention += forward;
  layer.backward.attention += kFlashBackward * forward;
}

/// Of a decoder's layer: attention to what the encoder made of its tokens, with its norm and sum.
void add_cross_attention(LayerTime& layer,
                         const TrainingSetup& setup,
                         const RunChoices& choices,
                         const KernelRates& rates,
                         const Sizes& sizes) {
  const auto keys = static_cast<double>(setup.run.encoder->sequence);
  const double read = sizes.batch * keys / setup.run.cp;
  add_linear(layer, rates, rates.product, sizes.tokens, sizes.hidden, sizes.query);
  add_linear(layer, rates, rates.product, read, sizes.hidden, 2 * sizes.kv);
  add_linear(layer, rates, rates.product, sizes.tokens, sizes.query, sizes.hidden);
  const double moved =
      (sizes.tokens * sizes.query + read * sizes.kv) * rearrangement_bytes(rates, choices);
  const double elements = sizes.rows * sizes.hidden;
  add_bytes(layer.forward,
            rates,
            moved + elements * (norm_bytes(rates, choices) + sum_bytes(rates, choices)),
            kRearrangementKernels + norm_kernels(choices));
  add_bytes(
      layer.backward,
      rates,
      moved + elements * (norm_gradient_bytes(rates, choices) + sum_gradient_bytes(rates, choices)),
      kRearrangementKernels + 2 * norm_kernels(choices));
  if (choices.flash) {
    add_flash(layer, rates, sizes, keys, sizes.dim, false);
  } else {
    add_scores(layer, choices, rates, sizes, keys);
  }
  // Three of the layer's now seven products, a norm and a sum of three.
  layer.forward.kernels += host_share(choices) * kForwardKernels / 2;
  layer.backward.kernels += host_share(choices) * kBackwardKernels / 2;
}

void add_attention(LayerTime& layer,
                   const TrainingSetup& setup,
                   const RunChoices& choices,
                   const KernelRates& rates,
                   const Sizes& sizes) {
  if (setup.run.latent_attention) {
    add_latent(layer, rates, sizes);
  } else {
    add_linear(layer, rates, rates.product, sizes.tokens, sizes.hidden, sizes.query + 2 * sizes.kv);
  }
  const double moved = moved_bytes(choices, rates, sizes);
  add_bytes(layer.forward, rates, moved, kRearrangementKernels);
  add_bytes(layer.backward, rates, moved, kRearrangementKernels);
  if (choices.flash) {
    // Latent attention's keys carry the rotary part on top: 192 against 128 (average 160).
    const double dim = setup.run.latent_attention ? 1.25 * sizes.dim : sizes.dim;
    add_flash(layer, rates, sizes, sizes.sequence, dim, setup.run.causal);
  } else {
    add_scores(layer, choices, rates, sizes, sizes.sequence);
  }
  add_linear(layer, rates, rates.product, sizes.tokens, sizes.query, sizes.hidden);
}

/// Two norms and two residual sums.
void add_rows(LayerTime& layer,
              const RunChoices& choices,
              const KernelRates& rates,
              const Sizes& sizes) {
  const double elements = 2 * sizes.rows * sizes.hidden;
  add_bytes(layer.forward,
            rates,
            elements * (norm_bytes(rates, choices) + sum_bytes(rates, choices)),
            2 * norm_kernels(choices));
  add_bytes(layer.backward,
            rates,
            elements * (norm_gradient_bytes(rates, choices) + sum_gradient_bytes(rates, choices)),
            4 * norm_kernels(choices));
}

void add_activation(LayerTime& layer,
                    const TrainingSetup& setup,
                    const RunChoices& choices,
                    const KernelRates& rates,
                    double elements) {
  const bool gated = setup.run.shape.activation == OpVariant::kSwiGlu;
  add_bytes(layer.forward, rates, elements * activation_bytes(rates, choices, gated), 0);
  add_bytes(layer.backward, rates, elements * activation_gradient_bytes(rates, choices, gated), 0);
}

double inner_columns(const TransformerShape& shape) {
  return shape.activation == OpVariant::kSwiGlu ? 2 : 1;
}

void add_mlp(LayerTime& layer,
             const TrainingSetup& setup,
             const RunChoices& choices,
             const KernelRates& rates,
             const Sizes& sizes,
             double inner) {
  add_linear(layer,
             rates,
             rates.product,
             sizes.tokens,
             sizes.hidden,
             inner * inner_columns(setup.run.shape));
  add_activation(layer, setup, choices, rates, sizes.tokens * inner);
  add_linear(layer, rates, rates.product, sizes.tokens, inner, sizes.hidden);
}

/// The layer's last projection and sum, whose results its backward does not read.
PassTime last_projection(const TrainingSetup& setup,
                         const RunChoices& choices,
                         const KernelRates& rates,
                         const Sizes& sizes) {
  const double inner = static_cast<double>(setup.run.shape.feed_forward) / setup.run.tp;
  LayerTime last;
  add_linear(last, rates, rates.product, sizes.tokens, inner, sizes.hidden);
  add_bytes(last.forward, rates, sizes.rows * sizes.hidden * sum_bytes(rates, choices), 0);
  last.forward.kernels = host_share(choices) * kProjectionKernels;
  return last.forward;
}

/// What the backward computes again.
void set_again(LayerTime& layer,
               const TrainingSetup& setup,
               const RunChoices& choices,
               const KernelRates& rates,
               const Sizes& sizes) {
  const bool spares = setup.framework.spares_recomputation && !setup.run.experts;
  switch (choices.recompute) {
    case Recompute::kNone:
      return;
    case Recompute::kFull:
      layer.again = layer.forward;
      if (spares) {
        layer.again += last_projection(setup, choices, rates, sizes).scaled(-1);
      }
      layer.again = layer.again.scaled(recomputed_share(setup.run));
      return;
    case Recompute::kSelective:
      break;
  }
  switch (setup.run.selective) {
    case SelectiveKind::kAttentionCore:
      if (spares || !choices.flash) {
        layer.again.attention = layer.forward.attention;
        add_bytes(layer.again, rates, moved_bytes(choices, rates, sizes), kRearrangementKernels);
        layer.again.kernels += host_share(choices) + (choices.flash ? 0 : score_kernels(choices));
      }
      return;
    case SelectiveKind::kOperations:
      // Every second product and attention are kept; the rest is cheap.
      layer.again = layer.forward;
      layer.again.attention = 0;
      layer.again.products = layer.forward.products / 2;
      return;
  }
}

void set_kernels(LayerTime& layer, const RunChoices& choices) {
  layer.forward.kernels += host_share(choices) * kForwardKernels;
  layer.backward.kernels += host_share(choices) * kBackwardKernels;
}

}  // namespace

PassTime& PassTime::operator+=(const PassTime& other) {
  products += other.products;
  attention += other.attention;
  elementwise += other.elementwise;
  experts += other.experts;
  kernels += other.kernels;
  return *this;
}

PassTime PassTime::scaled(double factor) const {
  PassTime result = *this;
  result.products *= factor;
  result.attention *= factor;
  result.elementwise *= factor;
  result.experts *= factor;
  result.kernels *= factor;
  return result;
}

LayerTime dense_layer(const TrainingSetup& setup,
                      const RunChoices& choices,
                      const KernelRates& rates) {
  const Sizes sizes = sizes_of(setup, choices);
  LayerTime layer;
  set_kernels(layer, choices);
  add_attention(layer, setup, choices, rates, sizes);
  add_rows(layer, choices, rates, sizes);
  add_mlp(layer,
          setup,
          choices,
          rates,
          sizes,
          static_cast<double>(setup.run.shape.feed_forward) / setup.run.tp);
  if (setup.run.encoder) {
    add_cross_attention(layer, setup, choices, rates, sizes);
  }
  set_again(layer, setup, choices, rates, sizes);
  add_accumulation(layer, choices, rates);
  return layer;
}

LayerTime expert_layer(const TrainingSetup& setup,
                       const RunChoices& choices,
                       const KernelRates& rates,
                       double traffic) {
  const TrainingRun& run = setup.run;
  const ExpertShape& experts = *run.experts;
  const Sizes sizes = sizes_of(setup, choices);
  LayerTime layer;
  set_kernels(layer, choices);
  add_attention(layer, setup, choices, rates, sizes);
  add_rows(layer, choices, rates, sizes);
  if (experts.shared_feed_forward > 0) {
    add_mlp(layer,
            setup,
            choices,
            rates,
            sizes,
            static_cast<double>(experts.shared_feed_forward) / run.tp);
  }
  // Routed tokens: divided over the tensor ranks, too, where those hold whole experts.
  const double divided = setup.framework.experts_divided_by_tensor
                             ? static_cast<double>(run.expert_tp.value_or(run.tp))
                             : static_cast<double>(run.expert_tp.value_or(1));
  const double local = static_cast<double>(experts.experts) / run.ep;
  const double routed = sizes.tokens / run.tp * divided * static_cast<double>(experts.per_token);
  const double rows = routed / local;
  const double inner = static_cast<double>(experts.feed_forward) / divided;
  const double columns = inner_columns(run.shape);
  LayerTime routing;
  const double padded = rows + kPaddedRows;
  add_linear(routing, rates, rates.product, padded, sizes.hidden, columns * inner, local);
  add_linear(routing, rates, rates.product, padded, inner, sizes.hidden, local);
  add_activation(routing, setup, choices, rates, routed * inner);
  const double copies = routed * sizes.hidden * routing_bytes(rates, traffic);
  add_bytes(routing.forward, rates, copies, kRoutingKernels);
  add_bytes(routing.backward, rates, copies, kRoutingKernels);
  const double router = product_seconds(
      rates, rates.wide / 8, sizes.rows, sizes.hidden, static_cast<double>(experts.experts));
  layer.forward.experts += routing.forward.device() + router;
  layer.backward.experts += routing.backward.device() + 2 * router;
  layer.weights += routing.weights;
  layer.forward.kernels += kRoutingKernels;
  layer.backward.kernels += kRoutingKernels;
  set_again(layer, setup, choices, rates, sizes);
  add_accumulation(layer, choices, rates);
  return layer;
}

void add_accumulation(LayerTime& layer, const RunChoices& choices, const KernelRates& rates) {
  layer.backward.elementwise +=
      layer.weights * sum_of_gradients_bytes(rates, choices) / rates.memory;
}

LayerTime embedding_time(const TrainingSetup& setup,
                         const RunChoices& choices,
                         const KernelRates& rates) {
  const double elements = static_cast<double>(setup.run.micro_batch) *
                          static_cast<double>(setup.run.sequence) / setup.run.cp *
                          static_cast<double>(setup.run.shape.hidden);
  LayerTime layer;
  add_bytes(
      layer.forward, rates, elements * kEmbeddingTraffic * rates.element, kEmbeddingForwardKernels);
  add_bytes(layer.backward,
            rates,
            elements * kEmbeddingGradientTraffic * rates.element,
            kEmbeddingBackwardKernels);
  // The table's gradient is cleared, then added to the sum, whole.
  layer.weights = padded_vocabulary(setup.run, setup.framework) *
                  static_cast<double>(setup.run.shape.hidden) / setup.run.tp;
  layer.backward.elementwise += layer.weights * rates.element / rates.memory;
  add_accumulation(layer, choices, rates);
  return layer;
}

LayerTime head_time(const TrainingSetup& setup,
                    const RunChoices& choices,
                    const KernelRates& rates,
                    double share) {
  const Sizes sizes = sizes_of(setup, choices);
  const double vocabulary = padded_vocabulary(setup.run, setup.framework) / share;
  KernelRates wide = rates;
  wide.narrow = wide.element;
  wide.cast = 0;
  LayerTime layer;
  add_linear(layer, wide, rates.wide, sizes.tokens, sizes.hidden, vocabulary);
  const double elements = sizes.rows * sizes.hidden;
  add_bytes(layer.forward, rates, elements * norm_bytes(rates, choices), norm_kernels(choices));
  add_bytes(layer.backward,
            rates,
            elements * norm_gradient_bytes(rates, choices),
            2 * norm_kernels(choices));
  layer.forward.kernels += host_share(choices) * kHeadForwardKernels;
  layer.backward.kernels += host_share(choices) * kHeadBackwardKernels;
  const double logits = sizes.tokens * vocabulary;
  add_bytes(layer.forward, rates, logits * kLossBytes, kLossForwardKernels);
  add_bytes(layer.backward, rates, logits * kLossGradientBytes, kLossBackwardKernels);
  add_accumulation(layer, choices, rates);
  return layer;
}

}  // namespace stagewright
