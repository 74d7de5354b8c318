#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "sim/cost/cost_model.h"

namespace stagewright {

/// What a regression sees of an operation on a device; unused places are zero.
inline constexpr std::size_t kShapeFeatures = 20;
using ShapeFeatures = std::array<double, kShapeFeatures>;

/// Matrix products: logarithms (base 2) of rows, cols and inner with their products; of bytes and
/// of FLOPs per byte; how full the last wave of thread blocks is for three tile sizes; the power of
/// two that divides each size; transposition and accumulation.  Attention: logarithms of sequence,
/// heads and head size with their products, batch, heads that share keys, backward.  Nothing for
/// other classes.
[[nodiscard]] std::optional<ShapeFeatures> shape_features(const Operation& op,
                                                          const DeviceType& device);

/// Seconds at the device's peak rate and bandwidth, whichever takes longer.  Nothing where the
/// device has no rate for the element type.
[[nodiscard]] std::optional<double> ideal_seconds(const Operation& op, const DeviceType& device);

/// A ridge regression for one device, class of operation and element size:
///   log(seconds / ideal) = intercept + sum weight (feature - mean)
/// within what was measured.
struct LearnedKernel {
  std::string device;
  OpClass op_class = OpClass::kMatrix;
  DType dtype = DType::kBFloat16;  ///< measured; other types of the same size are priced alike
  double intercept = 0;
  ShapeFeatures mean{};
  ShapeFeatures weights{};
  std::array<double, 3> least{};     ///< of the first three features, over the measured shapes
  std::array<double, 3> most{};      ///< largest of them
  std::array<double, 2> extremes{};  ///< of the measured log(seconds / ideal): kept within
  /// Share of the peak at which the calibrated price of kernel_time.h meets the middle of the
  /// measured shapes: what a rate in training is compared with.
  double share = 1;
  bool preferred = false;  ///< the default price of its class on its device (docs/costs.md)
  friend bool operator==(const LearnedKernel&, const LearnedKernel&) = default;
};

/// Nothing where the shape lies outside the measured sizes, or device, class or element size
/// differ.
[[nodiscard]] std::optional<double> learned_seconds(const LearnedKernel& kernel,
                                                    const Operation& op,
                                                    const DeviceType& device);

/// profiles/calibration/kernels.json, as `stagewright calibrate-kernels` writes it.
[[nodiscard]] Result<std::vector<LearnedKernel>> parse_learned_kernels(std::string_view text,
                                                                       std::string_view where);
[[nodiscard]] std::string to_json_text(const std::vector<LearnedKernel>& kernels);
/// Empty where the data files hold none.
[[nodiscard]] Result<std::vector<LearnedKernel>> load_learned_kernels(const DataFiles& files);

/// The regression that is the default price of products of this element size on the device, or
/// nullptr.  `kernels` must outlive the result.
[[nodiscard]] const LearnedKernel* preferred_products(const std::vector<LearnedKernel>& kernels,
                                                      const DeviceType& device,
                                                      DType dtype);

}  // namespace stagewright
