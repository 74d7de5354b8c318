#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/model/model_graph.h"
#include "planner/search/search.h"

namespace stagewright {

/// One point of the space, before its stages are cut.
struct SpacePoint {
  std::int32_t dp = 1;
  std::int32_t tp = 1;
  std::int32_t pp = 1;
  std::int32_t micro_batch_size = 1;
  std::int32_t micro_batches = 1;
  Recompute recompute = Recompute::kNone;
  std::string schedule;
  friend bool operator==(const SpacePoint&, const SpacePoint&) = default;
};

/// All points that use every device, and the divisions that have none, with the reason.
struct Space {
  std::vector<SpacePoint> points;
  struct Impossible {
    SpacePoint point;
    std::string reason;
  };
  std::vector<Impossible> impossible;
};

/// dp x tp x pp over all products equal to the number of devices; micro-batch sizes over the
/// divisors of a replica's batch.  What the request fixes stays fixed.
[[nodiscard]] Space enumerate_space(const ModelGraph& model,
                                    const Cluster& cluster,
                                    const SearchRequest& request);

/// What all points of a search share: a plan without stages, batch and schedule.
[[nodiscard]] Plan common_plan(const ModelGraph& model,
                               const Cluster& cluster,
                               const SearchRequest& request);

/// The plan of a point, without stages.
[[nodiscard]] Plan plan_of(const SpacePoint& point, const Plan& common);

}  // namespace stagewright
