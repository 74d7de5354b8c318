#pragma once

#include "core/training/training_setup.h"
#include "sim/step/step_constants.h"

namespace stagewright {

/// What a setup's kernels run at: data sheet times calibrated shares, looked up once.
struct KernelRates {
  double product = 0;     ///< FLOP/s of the layers' products in the run's number format
  double wide = 0;        ///< FLOP/s of products that stay in 16 bits (or wider)
  double attention = 0;   ///< FLOP/s of flash attention, long sequences, head size 128
  double memory = 0;      ///< bytes/s of element-wise kernels
  double optimizer = 0;   ///< bytes/s of the optimizer's
  double kernel = 0;      ///< seconds of device time per kernel
  double wave = 0;        ///< output elements that a product computes for nothing
  double element = 2;     ///< bytes of an activation
  double narrow = 2;      ///< bytes of a product's operand
  double misaligned = 1;  ///< slow-down of batched products with odd head sizes
};
[[nodiscard]] KernelRates kernel_rates(const TrainingSetup& setup,
                                       const StepConstants& constants,
                                       const TimingClass& timing);

/// `batch` products (rows, inner) x (inner, cols) at `rate`:
///   max(2 (batch rows cols + tail) (inner + 128) / rate, operands / memory) + kernel
/// A tile fills and drains its main loop along `inner`; `tail` is what the last wave of tiles
/// leaves idle.
[[nodiscard]] double product_seconds(const KernelRates& rates,
                                     double rate,
                                     double rows,
                                     double inner,
                                     double cols,
                                     double batch = 1);

/// Flash attention forward over `sequence` keys (causal: half of them), `queries` of them on this
/// device.  FlashAttention-2's published rates follow r0 s / (s + 520) in the sequence and
/// d / (d + 18) in the head size (Dao 2023, figures of the repository).
[[nodiscard]] double flash_seconds(
    const KernelRates& rates, double heads, double queries, double sequence, double head_dim);
/// The backward executes five products where the forward has two.
inline constexpr double kFlashBackward = 2.5;

}  // namespace stagewright
