#pragma once

#include <string>
#include <vector>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "formats/measured_kernels.h"
#include "sim/cost/learned_kernels.h"

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
  int groups = 0;          ///< of shapes
  KernelError learned;     ///< on groups left out
  KernelError analytical;  ///< with the device file's efficiencies
  KernelError scaled;      ///< the analytical times the factor that suits the other groups
};

/// Ridge regressions of measured kernels, one per device, class of operation and element size with
/// kFewestPoints or more.  Cross-validated: shapes whose sizes round to the same powers of two are
/// one group, and eighths of the groups are left out in turn.  The strength of the ridge is the one
/// of kRidges with the least left-out median inside the other seven eighths.
/// The regression is preferred where it has both the smaller median and the smaller mean error on
/// shapes left out.  Deterministic.  Fails for a device that the data files do not know, or without
/// a series that is long enough.
[[nodiscard]] Result<std::vector<KernelFit>> fit_kernels(
    const DataFiles& files, const std::vector<MeasuredKernel>& measured);

inline constexpr int kFewestPoints = 40;

}  // namespace stagewright
