#pragma once

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"
#include "core/training/training_setup.h"
#include "sim/cost/step_constants.h"

namespace stagewright {

/// A training run as a plan that can be lowered.
struct LoweredRun {
  ModelGraph model;
  Cluster cluster;
  Plan plan;
};

/// The plan, model and machines of a run, stages cut as the closed form cuts them.  kUnsupported,
/// saying what, for a run that lowering cannot express: shared experts or experts under tensor
/// parallelism, latent attention, encoders, state sharded over some of the replicas, ...
[[nodiscard]] Result<LoweredRun> lowered_run(const TrainingSetup& setup,
                                             const StepConstants& constants);

/// The static pass's step time of the run: what `plan` and `simulate` print for that plan and
/// framework.  Fails as lowered_run() and lower() do.
[[nodiscard]] Result<Duration> static_step_time(const TrainingSetup& setup,
                                                const StepConstants& constants);

}  // namespace stagewright
