#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/training/training_setup.h"
#include "sim/cost/step_constants.h"

namespace stagewright {

/// What to measure to know a step's time better.
struct NextMeasurement {
  std::string what;     ///< "rates of products and attention"
  double half_width;    ///< of the 80 % band of the step's logarithm, that lies in it
  double share;         ///< of the whole band
  std::string command;  ///< that takes the measurement in
};

/// Divides the step's error band (step_deviation) over what it comes from: the rates of kernels,
/// waits for the host, traffic inside and between nodes, what happens once a step, experts.  The
/// widest part comes first: measuring it narrows the band most.  Fails as can_price().
[[nodiscard]] Result<std::vector<NextMeasurement>> next_measurements(
    const TrainingSetup& setup, const StepConstants& constants);

}  // namespace stagewright
