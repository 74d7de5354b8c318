#include "sim/cost/row_kernels.h"

namespace stagewright {
namespace {

constexpr double kScoreKernels = 8;
/// Scale, mask, casts and softmax one by one.
constexpr double kUnfusedSoftmaxKernels = 13;

/// Bytes per score that the kernels between the two batched products read and write.
constexpr double kSoftmaxBytes = 4;          ///< fused: read and write 16 bits
constexpr double kUnfusedSoftmaxBytes = 26;  ///< scale, mask, cast, softmax in 32 bits, cast
constexpr double kDropoutBytes = 5;          ///< read, write, mask

double score_products(const KernelRates& rates, const ScoreShape& shape) {
  return product_seconds(
             rates, rates.batched, shape.queries, shape.head_dim, shape.keys, shape.matrices) +
         product_seconds(
             rates, rates.batched, shape.queries, shape.keys, shape.head_dim, shape.matrices);
}

double softmax_bytes(const RunChoices& choices) {
  return choices.fused_softmax ? kSoftmaxBytes : kUnfusedSoftmaxBytes;
}

double dropout_bytes(const RunChoices& choices) {
  return choices.dropout ? kDropoutBytes : 0;
}

}  // namespace

double host_share(const RunChoices& choices) {
  return choices.compiled ? 0.6 : 1;
}

double norm_bytes(const KernelRates& rates, const RunChoices& choices) {
  return (choices.fused_norm ? 2 : 6) * rates.element;
}

double norm_gradient_bytes(const KernelRates& rates, const RunChoices& choices) {
  return 2.5 * norm_bytes(rates, choices);
}

double norm_kernels(const RunChoices& choices) {
  return choices.fused_norm ? 0 : 4;
}

double sum_bytes(const KernelRates& rates, const RunChoices& choices) {
  const double dropout = choices.dropout ? 1 : 0;
  const double bias = choices.biases && !choices.fused_sum ? 2 * rates.element : 0;
  return 3 * rates.element + dropout + bias;
}

double sum_gradient_bytes(const KernelRates& rates, const RunChoices& choices) {
  return 3 * rates.element + (choices.dropout ? 2 * rates.element + 1 : 0);
}

double activation_bytes(const KernelRates& rates, const RunChoices& choices, bool gated) {
  const double e = rates.element;
  const bool fused = choices.fused_activation;
  const double bias = choices.biases && !fused ? 2 * e : 0;
  return gated ? (fused ? 3 * e : 5 * e) : 2 * e + bias;
}

double activation_gradient_bytes(const KernelRates& rates, const RunChoices& choices, bool gated) {
  const double e = rates.element;
  const bool fused = choices.fused_activation;
  const double bias = choices.biases && !fused ? e : 0;
  return gated ? (fused ? 5 * e : 8 * e) : 3 * e + bias;
}

double rearrangement_bytes(const KernelRates& rates, const RunChoices& choices) {
  return choices.fused_norm ? 2 * rates.element : 24;
}

double score_seconds(const KernelRates& rates, const RunChoices& choices, const ScoreShape& shape) {
  const double scores = shape.matrices * shape.queries * shape.keys;
  return score_products(rates, shape) +
         scores * (softmax_bytes(choices) + dropout_bytes(choices)) / rates.memory +
         score_kernels(choices) * rates.kernel;
}

double score_gradient_seconds(const KernelRates& rates,
                              const RunChoices& choices,
                              const ScoreShape& shape) {
  const double scores = shape.matrices * shape.queries * shape.keys;
  return 2 * score_products(rates, shape) +
         scores * (softmax_bytes(choices) * 1.5 + dropout_bytes(choices)) / rates.memory +
         score_kernels(choices) * rates.kernel;
}

double score_kernels(const RunChoices& choices) {
  return kScoreKernels + (choices.fused_softmax ? 0 : kUnfusedSoftmaxKernels);
}

double routing_bytes(const KernelRates& rates, double traffic) {
  return traffic * 4 * rates.element;
}

double sum_of_gradients_bytes(const KernelRates& rates, const RunChoices& choices) {
  if (choices.fresh_gradients) {
    return 0;
  }
  const bool fused =
      choices.fused_accumulation || (choices.fused_casts && rates.narrow < rates.element);
  return accumulation_bytes(rates, choices.gradient_32, fused);
}

}  // namespace stagewright
