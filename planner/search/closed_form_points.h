#pragma once

#include "core/cluster/cluster.h"
#include "core/training/training_setup.h"
#include "planner/search/search.h"
#include "sim/step/step_time.h"

namespace stagewright {

/// Machine, framework and model of a job, for points that only sim/step can price.
[[nodiscard]] TrainingSetup job_setup(const ModelGraph& model,
                                      const Cluster& cluster,
                                      const SearchRequest& request);

/// Makes it the run of a point: layers as even as they go, ranks in the usual order.
void set_point(TrainingRun& run, const PlanPoint& point);

/// What the slowest stage takes for its micro-batches, which no schedule and no sharding changes.
[[nodiscard]] double busy_seconds(const StepTime& step);

}  // namespace stagewright
