#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/model/model_graph.h"
#include "planner/search/search.h"
#include "sim/cost/cost_model.h"

// The planner as a library: what is to be trained, on what, and the best plans with their figures.
// examples/plan_a_model.cpp is a whole program.

namespace stagewright {

/// A training job.
struct PlanJob {
  ModelGraph model;               ///< find_model() of formats, or make_transformer()
  Cluster cluster;                ///< find_cluster()
  std::int64_t global_batch = 0;  ///< sequences per optimizer step
  std::int32_t sequence = 0;      ///< tokens; 0: the model's longest
  std::string constraints;        ///< "tp=8 pp=4..16 schedule=zb-*": what is decided already
  Objective objective;            ///< the step time unless told otherwise
  std::int32_t plans = 10;        ///< to return
  /// How much better than the first plan another one may be when the search stops, as a share.
  double gap = 0.01;
  std::int64_t most_simulated = 48;  ///< simulations after which it stops in any case
  std::int32_t threads = 0;          ///< 0: all cores
};

/// The closed form's prices of `files`, run as that framework does.  Fails where it is unknown or a
/// data file is broken.
[[nodiscard]] Result<StepPrices> load_step_prices(const DataFiles& files,
                                                  const std::string& framework);

/// Prices of `files`' calibration, as `stagewright plan` uses them without a profile.
[[nodiscard]] Result<std::unique_ptr<CostModel>> usual_costs(const DataFiles& files);

/// The best plans of a job: SearchResult::plans, best first, each with the figures that
/// `stagewright simulate` prints for it.  kInvalidInput, kNotFound or kInfeasible with what to
/// change, where the job says something impossible or nothing fits.
[[nodiscard]] Result<SearchResult> plan_job(const PlanJob& job,
                                            const DataFiles& files,
                                            const SearchControl& control = {});

}  // namespace stagewright
