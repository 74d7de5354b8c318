#pragma once

#include "core/training/training_setup.h"
#include "sim/cost/product_sizes.h"
#include "sim/cost/step_constants.h"

namespace stagewright {

/// The fused attention that the framework calls for the run's kind of positions.
[[nodiscard]] AttentionKernel attention_kernel(const TrainingSetup& setup);

/// What the rates of a program's kernels depend on.
struct KernelUse {
  const DeviceType* device = nullptr;
  MatrixFormat format = MatrixFormat::kBFloat16;
  AttentionKernel attention = AttentionKernel::kFlash2;
  bool fused_casts = false;
  std::int64_t head_dim = 128;
};

/// What kernels run at: data sheet times calibrated shares, looked up once.
struct KernelRates {
  double product = 0;      ///< FLOP/s of the layers' products in the run's number format
  double wide = 0;         ///< FLOP/s of products that stay in 16 bits (or wider)
  double attention = 0;    ///< FLOP/s of flash attention, long sequences, head size 128
  double half_length = 0;  ///< sequence at which flash attention reaches half of that
  double memory = 0;       ///< bytes/s of element-wise kernels
  double optimizer = 0;    ///< bytes/s of the optimizer's
  double kernel = 0;       ///< seconds of device time per kernel
  double units = 108;      ///< thread blocks of a wave
  double small_tile = 1;   ///< cost of halving a product's tiles
  double element = 2;      ///< bytes of an activation
  double cast = 0;         ///< bytes that converting an element moves
  double narrow = 2;       ///< bytes of a product's operand
  double batched = 0;      ///< FLOP/s of attention's products where it is not fused
  /// The learned price of products at the rate `wide`, where one is the default, times what a
  /// product takes in training over alone.  Both outlive the rates.
  const LearnedKernel* learned = nullptr;
  double learned_factor = 1;
  const DeviceType* device = nullptr;
};
[[nodiscard]] KernelRates kernel_rates(const KernelUse& use,
                                       const StepConstants& constants,
                                       const TimingClass& timing);
[[nodiscard]] KernelRates kernel_rates(const TrainingSetup& setup,
                                       const StepConstants& constants,
                                       const TimingClass& timing);

/// `batch` products (rows, inner) x (inner, cols) at `rate`, of shapes that a default learned price
/// covers by that price, else:
///   max(2 work / rate, operands / memory) + kernel
///   work = min over tiles and splits of waves units tile_area (inner / split + 128) cost
/// The output is cut into tiles, 256 x 128 or down to 64 x 64 at a calibrated cost per halving;
/// waves = ceil(tiles split / units) run one after the other; a tile fills and drains its main loop
/// along `inner`, which may be divided over up to four thread blocks.  Half as long again where
/// rows of `inner` or `cols` elements are no multiple of 16 bytes.
[[nodiscard]] double product_seconds(const KernelRates& rates,
                                     double rate,
                                     double rows,
                                     double inner,
                                     double cols,
                                     double batch = 1);
/// A convolution that is such a product without laying out its operand: `bytes` are those of its
/// tensors.
[[nodiscard]] double convolution_seconds(const KernelRates& rates,
                                         const ProductSizes& sizes,
                                         double bytes);

/// Flash attention forward over `sequence` keys (causal: half of them), `queries` of them on this
/// device.  FlashAttention-2's published rates follow r0 s / (s + 520) in the sequence and
/// d / (d + 18) in the head size (Dao 2023, figures of the repository).
[[nodiscard]] double flash_seconds(
    const KernelRates& rates, double heads, double queries, double sequence, double head_dim);
/// The backward executes five products where the forward has two.
inline constexpr double kFlashBackward = 2.5;

/// Bytes per weight that a micro-batch's gradient moves on top of being written: read and added to
/// the sum in 32 or 16 bits by a kernel of its own; or (`fused`) the product reads and writes the
/// wider sum.
[[nodiscard]] double accumulation_bytes(const KernelRates& rates, bool gradient_32, bool fused);

}  // namespace stagewright
