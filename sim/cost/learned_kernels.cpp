#include "sim/cost/learned_kernels.h"

#include <algorithm>
#include <cmath>

#include "sim/cost/analytical_compute.h"
#include "sim/cost/product_sizes.h"

namespace stagewright {
namespace {

constexpr std::array<std::array<double, 2>, 3> kTileSizes{{{256, 128}, {128, 128}, {64, 64}}};

double log_of(std::int64_t size) {
  return std::log2(static_cast<double>(std::max<std::int64_t>(size, 1)));
}

/// Logarithm of the power of two, at most 64, that divides `size`.
double alignment(std::int64_t size) {
  double power = 0;
  while (power < 6 && size > 0 && size % 2 == 0) {
    size /= 2;
    ++power;
  }
  return power;
}

/// Work that thread blocks execute over what the product has: tiles at its edges and the blocks
/// that the last wave leaves idle.
double wave_waste(const OpShape& shape, double units, const std::array<double, 2>& tile) {
  const auto rows = static_cast<double>(shape.rows);
  const auto cols = static_cast<double>(shape.cols);
  const double tiles = std::ceil(rows / tile[0]) * std::ceil(cols / tile[1]);
  return std::log(std::ceil(tiles / units) * units * tile[0] * tile[1] / (rows * cols));
}

/// The sizes' logarithms and their products.
std::size_t add_sizes(ShapeFeatures& features, const std::array<double, 3>& sizes) {
  std::size_t at = 0;
  for (const double size : sizes) {
    features[at++] = size;
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (std::size_t j = i; j < sizes.size(); ++j) {
      features[at++] = sizes[i] * sizes[j];
    }
  }
  return at;
}

ShapeFeatures matrix_features(const Operation& op, const DeviceType& device) {
  const OpShape& shape = op.shape;
  ShapeFeatures features{};
  std::size_t at =
      add_sizes(features, {log_of(shape.rows), log_of(shape.cols), log_of(shape.inner)});
  const double bytes = std::log2(static_cast<double>(bytes_moved(op).count()));
  const double intensity = std::log2(flops_of(op).count()) - bytes;
  features[at++] = bytes;
  features[at++] = intensity * intensity;
  for (const auto& tile : kTileSizes) {
    features[at++] = wave_waste(shape, device.multiprocessors, tile);
  }
  for (const std::int64_t size : {shape.rows, shape.cols, shape.inner}) {
    features[at++] = alignment(size);
  }
  features[at++] = op.transpose_a ? 1 : 0;
  features[at++] = op.transpose_b ? 1 : 0;
  features[at] = op.accumulate ? 1 : 0;
  return features;
}

ShapeFeatures attention_features(const Operation& op) {
  const OpShape& shape = op.shape;
  ShapeFeatures features{};
  std::size_t at =
      add_sizes(features, {log_of(shape.sequence), log_of(shape.heads), log_of(shape.head_dim)});
  features[at++] = log_of(shape.batch);
  features[at++] = log_of(shape.heads) - log_of(shape.kv_heads);
  features[at] = op.kind == OpKind::kAttentionBackward ? 1 : 0;
  return features;
}

bool same_kind(const LearnedKernel& kernel, const Operation& op, const DeviceType& device) {
  return kernel.op_class == class_of(op.kind) && !is_convolution(op.kind) &&
         size_of(kernel.dtype) == size_of(op.dtype) && kernel.device == device.name;
}

}  // namespace

std::optional<ShapeFeatures> shape_features(const Operation& op, const DeviceType& device) {
  switch (class_of(op.kind)) {
    case OpClass::kMatrix:
      return matrix_features(op, device);
    case OpClass::kAttention:
      return attention_features(op);
    case OpClass::kMemory:
    case OpClass::kOptimizer:
    case OpClass::kCollective:
      break;
  }
  return std::nullopt;
}

std::optional<double> ideal_seconds(const Operation& op, const DeviceType& device) {
  const double rate = matrix_peak(device, op.dtype).count();
  const double memory = device.memory_bandwidth.count();
  if (!(rate > 0) || !(memory > 0)) {
    return std::nullopt;
  }
  return std::max(flops_of(op).count() / rate,
                  static_cast<double>(bytes_moved(op).count()) / memory);
}

std::optional<double> learned_seconds(const LearnedKernel& kernel,
                                      const Operation& op,
                                      const DeviceType& device) {
  if (!same_kind(kernel, op, device)) {
    return std::nullopt;
  }
  const auto features = shape_features(op, device);
  const auto ideal = ideal_seconds(op, device);
  if (!features || !ideal) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < kernel.least.size(); ++i) {
    if ((*features)[i] < kernel.least[i] || (*features)[i] > kernel.most[i]) {
      return std::nullopt;
    }
  }
  double sum = kernel.intercept;
  for (std::size_t i = 0; i < kShapeFeatures; ++i) {
    sum += kernel.weights[i] * ((*features)[i] - kernel.mean[i]);
  }
  return *ideal * std::exp(std::clamp(sum, kernel.extremes[0], kernel.extremes[1]));
}

const LearnedKernel* preferred_products(const std::vector<LearnedKernel>& kernels,
                                        const DeviceType& device,
                                        DType dtype) {
  const auto found = std::ranges::find_if(kernels, [&](const LearnedKernel& kernel) {
    return kernel.preferred && kernel.op_class == OpClass::kMatrix &&
           kernel.device == device.name && size_of(kernel.dtype) == size_of(dtype);
  });
  return found == kernels.end() ? nullptr : &*found;
}

}  // namespace stagewright
