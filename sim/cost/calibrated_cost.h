#pragma once

#include <memory>

#include "core/training/training_setup.h"
#include "sim/cost/cost_model.h"
#include "sim/cost/step_constants.h"

namespace stagewright {

/// The analytical model with the kernels, links and rules that the closed form of the step
/// (sim/step) has, run as the framework and the run of `setup` say: one price whichever command
/// asks.  Of the run only its switches and its shape's biases and kind of positions count; sizes
/// and degrees are those of the operations.  The device, where there is one, says whether its links
/// are calibrated.
///
///   matrix        product_seconds, sum_of_gradients_bytes, casts
///   attention     flash_seconds per sequence (not causal: twice; backward: times kFlashBackward)
///   or
///                 score_seconds, with the rearrangement of the heads
///   row-wise      row_kernels.h
///   optimizer     optimizer_bytes per parameter, squared norm and clearing in it
///   collective    traffic_seconds by bucket, nic_share of the line rate between nodes
///   message       transfer_time, the same share
///
/// Devices that name no architecture (the CPU) are not calibrated: they keep the roofline with the
/// efficiencies of their files and the default rules.
[[nodiscard]] std::unique_ptr<CostModel> make_calibrated_cost(StepConstants constants,
                                                              const TrainingSetup& setup);
/// With what the framework does by default.
[[nodiscard]] std::unique_ptr<CostModel> make_calibrated_cost(StepConstants constants,
                                                              const FrameworkProfile& framework);

/// How the closed form has a program of that setup run its operations.
[[nodiscard]] ExecutionRules execution_rules(const StepConstants& constants,
                                             const TrainingSetup& setup);

}  // namespace stagewright
