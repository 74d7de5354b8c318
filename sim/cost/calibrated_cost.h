#pragma once

#include <memory>

#include "core/training/framework.h"
#include "sim/cost/cost_model.h"
#include "sim/cost/step_constants.h"

namespace stagewright {

/// The analytical model with the kernels of kernel_time.h, as the closed form of the step prices
/// them, run by `framework`: one price per kernel, whichever command asks.
///
///   matrix     product_seconds; a gradient that is added to a sum moves accumulation_bytes, too
///   attention  flash_seconds per sequence; not causal: twice; backward: times kFlashBackward
///   others     bytes / (elementwise_share bandwidth) + kernel_micros
///
/// Devices that name no architecture (the CPU) are not calibrated: they keep the roofline with the
/// efficiencies of their files.  Links: as make_analytical_cost().
[[nodiscard]] std::unique_ptr<CostModel> make_calibrated_cost(StepConstants constants,
                                                              const FrameworkProfile& framework);

}  // namespace stagewright
