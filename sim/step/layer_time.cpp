#include "sim/step/layer_time.h"

#include <algorithm>

namespace stagewright {
namespace {

// Kernels of a layer as frameworks issue them, counted in their code: products with biases and
// element-wise kernels, without what the switches below add.
constexpr double kForwardKernels = 14;
constexpr double kBackwardKernels = 26;
/// Scale, mask, softmax, dropout and the two batched products in place of one flash kernel.
constexpr double kScoreKernels = 8;
/// Scale, mask, casts and softmax one by one.
constexpr double kUnfusedSoftmaxKernels = 13;
/// Router, top-k, permutation, counts, and what comes back.
constexpr double kRoutingKernels = 30;

/// Bytes per score that the kernels between the two batched products read and write.
constexpr double kSoftmaxBytes = 4;          ///< fused: read and write 16 bits
constexpr double kUnfusedSoftmaxBytes = 26;  ///< scale, mask, cast, softmax in 32 bits, cast
constexpr double kDropoutBytes = 5;          ///< read, write, mask
/// Bytes per logit of a loss in 32 bits: cast, maximum, exponentials, sum, gradient, cast.
constexpr double kLossBytes = 36;

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

void add_scores(LayerTime& layer,
                const TrainingSetup& setup,
                const RunChoices& choices,
                const KernelRates& rates,
                const Sizes& sizes) {
  const double batch = sizes.batch * sizes.heads;
  const double rate = rates.batched;
  const double product =
      product_seconds(rates, rate, sizes.queries, sizes.dim, sizes.sequence, batch);
  const double context =
      product_seconds(rates, rate, sizes.queries, sizes.sequence, sizes.dim, batch);
  const double scores = batch * sizes.queries * sizes.sequence;
  const double softmax = choices.fused_softmax ? kSoftmaxBytes : kUnfusedSoftmaxBytes;
  const double dropout = setup.framework.dropout ? kDropoutBytes : 0;
  const double kernels = kScoreKernels + (choices.fused_softmax ? 0 : kUnfusedSoftmaxKernels);
  layer.forward.attention +=
      product + context + scores * (softmax + dropout) / rates.memory + kernels * rates.kernel;
  layer.forward.kernels += kernels;
  layer.backward.attention += 2 * (product + context) +
                              scores * (softmax * 1.5 + dropout) / rates.memory +
                              kernels * rates.kernel;
  layer.backward.kernels += kernels;
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

void add_attention(LayerTime& layer,
                   const TrainingSetup& setup,
                   const RunChoices& choices,
                   const KernelRates& rates,
                   const Sizes& sizes) {
  const double e = rates.element;
  if (setup.run.latent_attention) {
    add_latent(layer, rates, sizes);
  } else {
    add_linear(layer, rates, rates.product, sizes.tokens, sizes.hidden, sizes.query + 2 * sizes.kv);
  }
  // Heads are rearranged, or rotated: eager code does that in 32 bits, one kernel a step.
  const bool eager = !setup.framework.fused_norm && !choices.compiled;
  const double moved = sizes.tokens * (sizes.query + sizes.kv) * (eager ? 24 : 2 * e);
  add_bytes(layer.forward, rates, moved, 2);
  add_bytes(layer.backward, rates, moved, 2);
  if (choices.flash) {
    // Latent attention's keys carry the rotary part on top: 192 against 128 (average 160).
    const double dim = setup.run.latent_attention ? 1.25 * sizes.dim : sizes.dim;
    const double forward =
        sizes.batch * flash_seconds(rates, sizes.heads, sizes.queries, sizes.sequence, dim);
    layer.forward.attention += forward;
    layer.backward.attention += kFlashBackward * forward;
  } else {
    add_scores(layer, setup, choices, rates, sizes);
  }
  add_linear(layer, rates, rates.product, sizes.tokens, sizes.query, sizes.hidden);
}

/// Two norms and two residual sums.
void add_rows(LayerTime& layer,
              const TrainingSetup& setup,
              const RunChoices& choices,
              const KernelRates& rates,
              const Sizes& sizes) {
  const double e = rates.element;
  const FrameworkProfile& framework = setup.framework;
  const bool norm_fused = framework.fused_norm || choices.compiled;
  const bool sum_fused = framework.fused_residual || choices.compiled;
  const double elements = 2 * sizes.rows * sizes.hidden;
  const double norm = norm_fused ? 2 * e : 6 * e;
  const double dropout = framework.dropout ? 1 : 0;
  const double bias = setup.run.shape.biases && !sum_fused ? 2 * e : 0;
  const double sum = 3 * e + dropout + bias;
  add_bytes(layer.forward, rates, elements * (norm + sum), norm_fused ? 0 : 8);
  add_bytes(layer.backward,
            rates,
            elements * (2.5 * norm + 3 * e + (dropout > 0 ? 2 * e + 1 : 0)),
            norm_fused ? 0 : 16);
}

void add_activation(LayerTime& layer,
                    const TrainingSetup& setup,
                    const RunChoices& choices,
                    const KernelRates& rates,
                    double elements) {
  const double e = rates.element;
  const bool fused = setup.framework.fused_activation || choices.compiled;
  const bool gated = setup.run.shape.activation == OpVariant::kSwiGlu;
  const double bias = setup.run.shape.biases && !fused ? 2 * e : 0;
  const double forward = gated ? (fused ? 3 * e : 5 * e) : 2 * e + bias;
  const double backward = gated ? (fused ? 5 * e : 8 * e) : 3 * e + bias / 2;
  add_bytes(layer.forward, rates, elements * forward, 0);
  add_bytes(layer.backward, rates, elements * backward, 0);
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

/// What the backward computes again.
void set_again(LayerTime& layer, const TrainingSetup& setup, const RunChoices& choices) {
  switch (choices.recompute) {
    case Recompute::kNone:
      return;
    case Recompute::kFull:
      layer.again = layer.forward;
      return;
    case Recompute::kSelective:
      break;
  }
  switch (setup.run.selective) {
    case SelectiveKind::kAttentionCore:
      if (!choices.flash) {
        layer.again.attention = layer.forward.attention;
        layer.again.kernels = kScoreKernels;
      }
      return;
    case SelectiveKind::kOperations:
      // Every second product and attention are kept; the rest is cheap.
      layer.again = layer.forward;
      layer.again.attention = 0;
      layer.again.products = layer.forward.products / 2;
      return;
    case SelectiveKind::kEverySecondLayer:
      layer.again = layer.forward.scaled(0.5);
      return;
  }
}

/// Bytes per weight for accumulating a micro-batch's gradient.
double bytes_to_accumulate(const TrainingSetup& setup,
                           const RunChoices& choices,
                           const KernelRates& rates) {
  if (setup.run.zero_stage == 3 || (setup.run.micro_batches == 1 && !choices.gradient_32)) {
    return 0;  // whole gradients live for one backward only
  }
  const bool fused = setup.framework.fused_accumulation ||
                     (setup.framework.fused_casts && rates.narrow < rates.element);
  return accumulation_bytes(rates, choices.gradient_32, fused);
}

void set_kernels(LayerTime& layer, const RunChoices& choices) {
  const double compiled = choices.compiled ? 0.6 : 1;
  layer.forward.kernels += compiled * kForwardKernels;
  layer.backward.kernels += compiled * kBackwardKernels;
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

RunChoices choices_of(const TrainingSetup& setup) {
  const TrainingRun& run = setup.run;
  const FrameworkProfile& framework = setup.framework;
  RunChoices choices;
  choices.flash = run.flash_attention.value_or(framework.flash_attention);
  choices.compiled = run.compiled.value_or(framework.timing_class == "torchtitan");
  choices.sequence_parallel =
      run.tp > 1 && run.sequence_parallel.value_or(framework.sequence_parallel);
  choices.gradient_32 = run.gradient_32.value_or(framework.gradient_32 && !run.half_precision);
  choices.overlap_gradients = run.overlap_gradients.value_or(framework.overlap_gradients);
  choices.overlap_gather = run.overlap_gather.value_or(framework.overlap_gather);
  choices.recompute = run.recompute.value_or(framework.recompute);
  // Megatron's fused kernels take up to 2048 (later 4096, 16384) keys, and a number of score
  // matrices that is a multiple of four (megatron/fused_kernels, is_kernel_available).
  const std::int64_t matrices = std::int64_t{run.micro_batch} * run.shape.heads / run.tp;
  choices.fused_softmax = framework.fused_softmax && run.sequence <= 2048 && matrices % 4 == 0;
  return choices;
}

LayerTime dense_layer(const TrainingSetup& setup,
                      const RunChoices& choices,
                      const KernelRates& rates) {
  const Sizes sizes = sizes_of(setup, choices);
  LayerTime layer;
  set_kernels(layer, choices);
  add_attention(layer, setup, choices, rates, sizes);
  add_rows(layer, setup, choices, rates, sizes);
  add_mlp(layer,
          setup,
          choices,
          rates,
          sizes,
          static_cast<double>(setup.run.shape.feed_forward) / setup.run.tp);
  set_again(layer, setup, choices);
  add_accumulation(layer, setup, choices, rates);
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
  add_rows(layer, setup, choices, rates, sizes);
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
  // Groups of rows are padded to half a tile on average.
  add_linear(routing, rates, rates.product, rows + 64, sizes.hidden, columns * inner, local);
  add_linear(routing, rates, rates.product, rows + 64, inner, sizes.hidden, local);
  add_activation(routing, setup, choices, rates, routed * inner);
  const double copies = traffic * 4 * routed * sizes.hidden * rates.element;
  add_bytes(routing.forward, rates, copies, kRoutingKernels);
  add_bytes(routing.backward, rates, copies, kRoutingKernels);
  const double router = product_seconds(
      rates, rates.wide / 8, sizes.rows, sizes.hidden, static_cast<double>(experts.experts));
  layer.forward.experts += routing.forward.device() + router;
  layer.backward.experts += routing.backward.device() + 2 * router;
  layer.weights += routing.weights;
  layer.forward.kernels += kRoutingKernels;
  layer.backward.kernels += kRoutingKernels;
  set_again(layer, setup, choices);
  add_accumulation(layer, setup, choices, rates);
  return layer;
}

void add_accumulation(LayerTime& layer,
                      const TrainingSetup& setup,
                      const RunChoices& choices,
                      const KernelRates& rates) {
  layer.backward.elementwise +=
      layer.weights * bytes_to_accumulate(setup, choices, rates) / rates.memory;
}

LayerTime embedding_time(const TrainingSetup& setup,
                         const RunChoices& choices,
                         const KernelRates& rates) {
  const double elements = static_cast<double>(setup.run.micro_batch) *
                          static_cast<double>(setup.run.sequence) / setup.run.cp *
                          static_cast<double>(setup.run.shape.hidden);
  LayerTime layer;
  add_bytes(layer.forward, rates, elements * 3 * rates.element, 6);
  add_bytes(layer.backward, rates, elements * 6 * rates.element, 4);
  // The table's gradient is cleared, then added to the sum, whole.
  layer.weights =
      static_cast<double>(setup.run.shape.vocabulary * setup.run.shape.hidden) / setup.run.tp;
  layer.backward.elementwise += layer.weights * rates.element / rates.memory;
  add_accumulation(layer, setup, choices, rates);
  return layer;
}

LayerTime head_time(const TrainingSetup& setup,
                    const RunChoices& choices,
                    const KernelRates& rates,
                    double share) {
  const Sizes sizes = sizes_of(setup, choices);
  const double vocabulary = static_cast<double>(setup.run.shape.vocabulary) / share;
  KernelRates wide = rates;
  wide.narrow = wide.element;
  wide.cast = 0;
  LayerTime layer;
  add_linear(layer, wide, rates.wide, sizes.tokens, sizes.hidden, vocabulary);
  const double elements = sizes.rows * sizes.hidden;
  add_bytes(layer.forward, rates, elements * 2 * rates.element, 4);
  add_bytes(layer.backward, rates, elements * 5 * rates.element, 4);
  const double logits = sizes.tokens * vocabulary;
  add_bytes(layer.forward, rates, logits * kLossBytes * 0.6, 8);
  add_bytes(layer.backward, rates, logits * kLossBytes * 0.4, 4);
  add_accumulation(layer, setup, choices, rates);
  return layer;
}

}  // namespace stagewright
