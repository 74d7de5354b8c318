#include "sim/cost/kernel_time.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "sim/cost/tile_fill.h"

namespace stagewright {
namespace {

/// Output tiles of a product's thread blocks, each halving the one before.
constexpr std::array<std::array<double, 2>, 4> kTiles{
    {{{256, 128}}, {{128, 128}}, {{128, 64}}, {{64, 64}}}};
/// Shortest inner dimension that is worth dividing over thread blocks.
constexpr double kShortestSplit = 512;
/// Bytes that the rows of a product's operands must be a multiple of for its usual kernels, and the
/// time that it takes otherwise, over that: EleutherAI/cookbook's sweep of columns on A100 (4096 by
/// 27648, every second width: 1.45 to 1.6, by median 1.51).
constexpr double kAlignment = 16;
constexpr double kMisalignedCost = 1.5;
/// Capability of devices whose matrix units take 4-bit operands, at twice the 8-bit rate.
constexpr std::string_view kFloat4Products = "4-bit-products";
/// Where flash attention reaches half of its rate, causal, forward and backward together.
constexpr double kFlash2HalfLength = 520;
constexpr double kFlash1HalfLength = 300;
constexpr double kHeadHalfSize = 18;

double peak_of(const DeviceType& device, std::initializer_list<DType> types) {
  for (const DType type : types) {
    const auto found = device.peak.find(type);
    if (found != device.peak.end()) {
      return found->second.count();
    }
  }
  return 0;
}

double wide_peak(const DeviceType& device, MatrixFormat format) {
  switch (format) {
    case MatrixFormat::kFloat32:
      return peak_of(device, {DType::kFloat32});
    case MatrixFormat::kTf32:
      return peak_of(device, {DType::kTf32, DType::kFloat32});
    case MatrixFormat::kFloat16:
      return peak_of(device, {DType::kFloat16, DType::kBFloat16, DType::kTf32, DType::kFloat32});
    case MatrixFormat::kBFloat16:
    case MatrixFormat::kFloat8:
    case MatrixFormat::kFloat8Blocks:
    case MatrixFormat::kFloat4:
      return peak_of(device, {DType::kBFloat16, DType::kFloat16, DType::kTf32, DType::kFloat32});
  }
  return 0;
}

/// Peak of the layers' products relative to the wide one, with the format's calibrated share.
double format_gain(const KernelUse& use, const StepConstants& constants, double wide) {
  const double narrow = peak_of(*use.device, {DType::kFloat8});
  if (narrow == 0 || wide == 0) {
    return 1;  // the device has no such units: runs in 16 bits
  }
  const double gain = narrow / wide * constants[StepConstant::kFloat8Share];
  switch (use.format) {
    case MatrixFormat::kFloat32:
    case MatrixFormat::kTf32:
    case MatrixFormat::kBFloat16:
    case MatrixFormat::kFloat16:
      return 1;
    case MatrixFormat::kFloat8:
      return gain;
    case MatrixFormat::kFloat8Blocks:
      return gain * constants[StepConstant::kBlockScaleShare];
    case MatrixFormat::kFloat4:
      // Without 4-bit units the products run in 8 bits, scaled by block.
      return use.device->can(kFloat4Products) ? 2 * gain * constants[StepConstant::kFloat4Share]
                                              : gain * constants[StepConstant::kBlockScaleShare];
  }
  return 1;
}

StepConstant attention_constant(const KernelUse& use) {
  switch (use.attention) {
    case AttentionKernel::kFlash1:
      return StepConstant::kFlash1Share;
    case AttentionKernel::kFlash2:
      return StepConstant::kFlash2Share;
    case AttentionKernel::kVendor:
      // Devices with fp8 units have the kernel.
      return use.device->peak.contains(DType::kFloat8) ? StepConstant::kVendorShare
                                                       : StepConstant::kFlash2Share;
  }
  return StepConstant::kFlash2Share;
}

/// Output elements, with what the last wave of thread blocks leaves idle, times steps along the
/// inner dimension: the least over tile sizes and divisions of the inner dimension.
double product_work(
    const KernelRates& rates, double rows, double inner, double cols, double batch) {
  double least = std::numeric_limits<double>::max();
  double cost = 1;
  for (const auto& [tile_rows, tile_cols] : kTiles) {
    const double tiles = batch * std::ceil(rows / tile_rows) * std::ceil(cols / tile_cols);
    for (double split = 1; split <= 4 && inner / split >= kShortestSplit; split *= 2) {
      const double waves = std::ceil(tiles * split / rates.units);
      const double work =
          cost * waves * rates.units * tile_rows * tile_cols * (inner / split + kTileFill);
      least = std::min(least, work);
    }
    if (inner < kShortestSplit) {
      const double waves = std::ceil(tiles / rates.units);
      least =
          std::min(least, cost * waves * rates.units * tile_rows * tile_cols * (inner + kTileFill));
    }
    cost *= rates.small_tile;
  }
  return least;
}

/// A single product at the rate of `wide`, by the learned price.
std::optional<double> learned_product(const KernelRates& rates,
                                      double rows,
                                      double inner,
                                      double cols) {
  Operation op;
  op.kind = OpKind::kGemm;
  op.dtype = rates.learned->dtype;
  op.shape.rows = std::llround(rows);
  op.shape.inner = std::llround(inner);
  op.shape.cols = std::llround(cols);
  const auto seconds = learned_seconds(*rates.learned, op, *rates.device);
  return seconds ? std::optional(*seconds * rates.learned_factor) : std::nullopt;
}

/// Whether a matrix with rows of so many elements starts each of them where loads are widest.
bool is_aligned(const KernelRates& rates, double row) {
  return std::fmod(row * rates.element, kAlignment) == 0;
}

double share_or(const DeviceType& device, OpClass op_class, double fallback) {
  const auto found = device.efficiency.find(op_class);
  return found == device.efficiency.end() ? fallback : found->second;
}

}  // namespace

AttentionKernel attention_kernel(const TrainingSetup& setup) {
  const FrameworkProfile& framework = setup.framework;
  return setup.run.shape.learned_positions
             ? framework.attention_kernel
             : framework.rotary_attention_kernel.value_or(framework.attention_kernel);
}

KernelRates kernel_rates(const KernelUse& use,
                         const StepConstants& constants,
                         const TimingClass& timing) {
  const DeviceType& device = *use.device;
  const auto found = constants.architectures.find(device.architecture);
  ArchitectureShares shares;
  if (found != constants.architectures.end() && !device.architecture.empty()) {
    shares = found->second;
  } else {
    shares.matrix = share_or(device, OpClass::kMatrix, shares.matrix);
    shares.attention = share_or(device, OpClass::kAttention, shares.attention);
  }
  const double wide = wide_peak(device, use.format);
  const MatrixFormat format = use.format;
  KernelRates rates;
  rates.wide = wide * shares.matrix * timing.matrix_factor;
  rates.product = rates.wide * format_gain(use, constants, wide);
  rates.attention = wide * shares.attention * constants[attention_constant(use)];
  rates.half_length =
      use.attention == AttentionKernel::kFlash1 ? kFlash1HalfLength : kFlash2HalfLength;
  rates.memory = device.memory_bandwidth.count() * constants[StepConstant::kElementwiseShare];
  rates.optimizer = rates.memory;
  rates.kernel = constants[StepConstant::kKernelMicros] * 1e-6;
  rates.units = device.multiprocessors;
  rates.small_tile = constants[StepConstant::kSmallTileCost];
  rates.element = format == MatrixFormat::kFloat32 || format == MatrixFormat::kTf32 ? 4 : 2;
  rates.narrow = rates.element;
  if (format == MatrixFormat::kFloat8 || format == MatrixFormat::kFloat8Blocks) {
    rates.narrow = 1;
  } else if (format == MatrixFormat::kFloat4) {
    rates.narrow = 0.5;
  }
  if (rates.narrow < rates.element) {
    // Fused: written narrow, twice (whole and transposed).  Else read for its largest value, read
    // and written.
    rates.cast = use.fused_casts ? 2 * rates.narrow : 2 * rates.element + 2 * rates.narrow;
  }
  rates.batched = rates.wide * constants[StepConstant::kBatchedShare];
  const DType stored = rates.element == 4 ? DType::kFloat32 : DType::kBFloat16;
  rates.learned = preferred_products(constants.learned, device, stored);
  if (rates.learned != nullptr) {
    rates.device = &device;
    rates.learned_factor = rates.learned->share / (shares.matrix * timing.matrix_factor);
  }
  const double vector = peak_of(device, {DType::kFloat32});
  if (use.head_dim % 8 != 0 && vector > 0) {
    // Operands off 16 bytes keep batched products from the matrix units.
    rates.batched = std::min(rates.batched, vector * shares.matrix * timing.matrix_factor);
  }
  return rates;
}

KernelRates kernel_rates(const TrainingSetup& setup,
                         const StepConstants& constants,
                         const TimingClass& timing) {
  return kernel_rates({.device = &setup.device,
                       .format = setup.run.format,
                       .attention = attention_kernel(setup),
                       .fused_casts = setup.framework.fused_casts,
                       .head_dim = setup.run.shape.head_dim},
                      constants,
                      timing);
}

double convolution_seconds(const KernelRates& rates, const ProductSizes& sizes, double bytes) {
  const bool aligned = is_aligned(rates, sizes.inner) && is_aligned(rates, sizes.cols);
  const double matrix = 2 * product_work(rates, sizes.rows, sizes.inner, sizes.cols, 1) /
                        rates.product * (aligned ? 1 : kMisalignedCost);
  return std::max(matrix, bytes / rates.memory) + rates.kernel;
}

double product_seconds(
    const KernelRates& rates, double rate, double rows, double inner, double cols, double batch) {
  if (rates.learned != nullptr && batch == 1 && rate == rates.wide) {
    if (const auto seconds = learned_product(rates, rows, inner, cols)) {
      return *seconds;
    }
  }
  // Batched products have a rate of their own, which depends on the head's size.
  const bool aligned = batch != 1 || (is_aligned(rates, inner) && is_aligned(rates, cols));
  const double matrix =
      2 * product_work(rates, rows, inner, cols, batch) / rate * (aligned ? 1 : kMisalignedCost);
  const double bytes = rates.element * batch * (rows * cols + rows * inner + inner * cols);
  return std::max(matrix, bytes / rates.memory) + rates.kernel;
}

double flash_seconds(
    const KernelRates& rates, double heads, double queries, double sequence, double head_dim) {
  const double flops = 2 * queries * sequence * head_dim * heads;
  const double length = queries / (queries + rates.half_length);
  const double size =
      std::min(1.07, head_dim / (head_dim + kHeadHalfSize) * (128 + kHeadHalfSize) / 128);
  return flops / (rates.attention * length * size) + rates.kernel;
}

double accumulation_bytes(const KernelRates& rates, bool gradient_32, bool fused) {
  const double sum = gradient_32 ? 4 : rates.element;
  return fused ? 2 * sum - rates.element : 2 * sum + rates.element;
}

}  // namespace stagewright
