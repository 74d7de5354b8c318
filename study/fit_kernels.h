#pragma once

#include <string>
#include <vector>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "formats/measured_kernels.h"
#include "formats/measured_record.h"
#include "sim/cost/learned_kernels.h"
#include "sim/cost/step_constants.h"

namespace stagewright {

/// |predicted / measured - 1| over some points.
struct KernelError {
  double median = 0;
  double mean = 0;
  friend bool operator==(const KernelError&, const KernelError&) = default;
};

/// A regression, and how it and the analytical price do on shapes that neither was fitted to.
struct KernelFit {
  LearnedKernel kernel;  ///< fitted to all points
  int points = 0;
  int groups = 0;           ///< of shapes
  KernelError learned;      ///< on groups left out
  KernelError formula;      ///< the calibrated price, at the share that isolated products reach
  KernelError scaled;       ///< the same times the factor that suits the other groups
  int steps = 0;            ///< measured training steps on the device; and the median errors there:
  double step_formula = 0;  ///< with the calibrated price
  double step_learned = 0;  ///< with the regression in its place
};

/// Ridge regressions of measured kernels, one per device, class of operation and element size with
/// kFewestPoints or more.  Cross-validated: shapes whose sizes round to the same powers of two are
/// one group, and eighths of the groups are left out in turn.  The strength of the ridge is the one
/// of kRidges with the least left-out median inside the other seven eighths.
/// Compared with the price that it would replace: kernel_time.h with `constants`, for a product
/// alone.  Deterministic.  Fails for a device that the data files do not know, or without a series
/// that is long enough.
[[nodiscard]] Result<std::vector<KernelFit>> fit_kernels(
    const DataFiles& files,
    const std::vector<MeasuredKernel>& measured,
    const StepConstants& constants);

/// Sets `preferred`: a regression is the default price on its device where
/// * on shapes left out both its median and its mean error are below those of the calibrated price,
///   also when that is scaled; and
/// * measured training steps on the device, kFewestSteps or more, are predicted no worse with it.
/// What a kernel takes alone is not all that it takes in training: a regression that nobody could
/// hold against steps stays behind the formula.
[[nodiscard]] Result<void> judge_kernels(const DataFiles& files,
                                         const std::vector<RecordLine>& records,
                                         StepConstants constants,
                                         std::vector<KernelFit>& fits);

inline constexpr int kFewestPoints = 40;
inline constexpr int kFewestSteps = 10;

}  // namespace stagewright
