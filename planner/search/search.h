#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/cluster/cluster.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"
#include "sim/cost/cost_model.h"

namespace stagewright {

/// What is asked: the training job, and what the user already decided.
struct SearchRequest {
  std::int64_t global_batch = 0;  ///< sequences per optimizer step
  std::int32_t sequence = 0;      ///< tokens
  PrecisionPlan precision;
  OptimizerSpec optimizer;
  // Fixed choices; absent: searched.
  std::optional<std::int32_t> dp;
  std::optional<std::int32_t> tp;
  std::optional<std::int32_t> pp;
  std::optional<std::int32_t> micro_batch_size;
  std::optional<Recompute> recompute;
  std::optional<std::string> schedule;
  /// Share of the device's memory that a plan may fill.
  double memory_share = 1.0;
  std::int32_t keep = 10;  ///< best plans to return
};

/// A plan with the static pass's figures.
struct Candidate {
  Plan plan;
  Duration step_time{};
  double tokens_per_s = 0;
  double mfu = 0;
  Bytes peak_memory{};  ///< fullest rank, context included
  double bubble = 0;    ///< mean over ranks of the share of the step without compute
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// A point of the space that cannot be used, and why.
struct Rejection {
  Plan plan;
  std::string reason;
  friend bool operator==(const Rejection&, const Rejection&) = default;
};

struct SearchResult {
  std::vector<Candidate> plans;     ///< best first
  std::vector<Rejection> rejected;  ///< in the order of the space
  std::int64_t space_size = 0;      ///< points that the ranges span
  std::int64_t evaluated = 0;       ///< priced in closed form
  std::int64_t pruned = 0;          ///< not simulated: their bound was already worse
  std::int64_t simulated = 0;       ///< lowered and timed by the static pass
  bool interrupted = false;         ///< stopped early: the best so far
};

/// Called now and then from the search.
struct SearchProgress {
  std::int64_t evaluated = 0;
  std::int64_t space_size = 0;
  std::int64_t simulated = 0;
};

struct SearchControl {
  std::function<void(const SearchProgress&)> on_progress;
  const std::atomic<bool>* stop = nullptr;
};

/// Searches dp x tp x pp x micro-batch size x recompute x schedule over all ways to use every
/// device of the cluster, with stages cut exactly (partition.h), prices each in closed form, and
/// simulates those whose bound may still be among the best `keep`.  Deterministic. kInfeasible when
/// nothing fits: the message says what stood in the way most often and what would help.
[[nodiscard]] Result<SearchResult> search(const ModelGraph& model,
                                          const Cluster& cluster,
                                          const CostModel& cost,
                                          const SearchRequest& request,
                                          const SearchControl& control = {});

}  // namespace stagewright
