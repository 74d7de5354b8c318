#pragma once

#include <cstdint>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/cluster/cluster.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"
#include "sim/cost/cost_model.h"

namespace stagewright {

struct SynthesisedPlan {
  /// With schedule `synth`, its costs and caps as parameters; the plan as it was where that fits
  /// and nothing faster was found.
  Plan plan;
  Duration step_time{};   ///< simulated
  Bytes peak_memory{};    ///< simulated; within the memory that was given
  Duration before{};      ///< of the plan as it was, whether that fits or not
  Bytes memory_before{};  ///< of the plan as it was
};

/// The plan with an order searched for its own stages: their simulated forward, backward and
/// halves, the transfers between them, what their tensors hold until the input and the weight half,
/// and the memory that parameters, optimizer and workspace leave.  Where the simulation of the
/// whole plan still needs more memory than there is, caps are lowered and the search is repeated.
/// `memory_share` of each device's memory may be used.  Fails as lower() and simulate() do, and
/// with kInfeasible where not even one micro-batch fits.
[[nodiscard]] Result<SynthesisedPlan> synthesise_plan(const ModelGraph& model,
                                                      const Cluster& cluster,
                                                      const CostModel& cost,
                                                      const Plan& plan,
                                                      double memory_share,
                                                      std::int64_t effort);

}  // namespace stagewright
