#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/model/model_graph.h"
#include "planner/search/dimension.h"
#include "planner/search/search.h"

namespace stagewright {

inline constexpr std::size_t kDimensionCount = 20;

/// The job of a request as dimensions see it.
[[nodiscard]] SpaceJob space_job(const ModelGraph& model,
                                 const Cluster& cluster,
                                 const SearchRequest& request);

/// The values of dimension `level` that the job, the dimensions before it and the constraints
/// leave.
void allowed_values(const SpaceJob& job,
                    std::size_t level,
                    const PlanPoint& point,
                    std::vector<std::int64_t>& out);

/// How many points lie below a point whose dimensions before `level` are chosen.  Equal subtrees
/// are counted once.  Not for several threads at once.
class SpaceCounter {
 public:
  explicit SpaceCounter(const SpaceJob& job) : job_(&job) {}
  /// The dimensions from `level` on must have their defaults in `point`.
  [[nodiscard]] std::int64_t below(std::size_t level, const PlanPoint& point);
  /// The same after below(0, PlanPoint{}), which has counted everything below: for several threads
  /// at once.  REQUIRES: a point of the space.
  [[nodiscard]] std::int64_t counted(std::size_t level, const PlanPoint& point) const;

 private:
  using Key = std::array<std::uint64_t, kDimensionCount>;
  struct KeyHash {
    [[nodiscard]] std::size_t operator()(const Key& key) const;
  };
  [[nodiscard]] Key key_of(std::size_t level, const PlanPoint& point) const;
  /// below() of a point that has that key.
  [[nodiscard]] std::int64_t below(std::size_t level, const PlanPoint& point, const Key& key);

  const SpaceJob* job_;
  std::array<std::unordered_map<Key, std::int64_t, KeyHash>, kDimensionCount + 1> known_;
};

/// The first point below, or nothing where the constraints leave none.
[[nodiscard]] std::optional<PlanPoint> first_point(const SpaceJob& job);

/// Calls `visit` for every point in order, until it returns false.
void for_each_point(const SpaceJob& job, const std::function<bool(const PlanPoint&)>& visit);

/// What all points of a search share: a plan without stages, batch and schedule.
[[nodiscard]] Plan common_plan(const ModelGraph& model,
                               const Cluster& cluster,
                               const SearchRequest& request);

/// The plan of a point whose stages hold those layers, of which `recomputed` (empty: as the point
/// says) are computed again.
[[nodiscard]] Plan plan_of(const PlanPoint& point,
                           const std::vector<std::int32_t>& stage_layers,
                           const std::vector<std::int32_t>& recomputed,
                           const Plan& common);

}  // namespace stagewright
