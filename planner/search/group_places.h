#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/cluster/cluster.h"
#include "planner/search/plan_point.h"
#include "sim/cost/cost_model.h"

namespace stagewright {

/// How far apart, in ranks, the members of each kind of group are under the point's rank order.
struct RankStrides {
  std::int64_t tensor = 1;
  std::int64_t data = 1;
  std::int64_t pipeline = 1;
};
[[nodiscard]] RankStrides strides_of(const PlanPoint& point);

/// Members on a node, nodes, and groups of the kind on a node, of tensor and data groups and of
/// neighbours in the pipeline.
using RankPlaces = std::array<std::int32_t, 9>;

/// Where groups sit when ranks fill the cluster in order, by arithmetic: the same for a cluster of
/// a hundred thousand devices.  Equal to schedule_geometry() where groups and equal nodes divide
/// each other; elsewhere never slower than any group of the kind.
class GroupPlaces {
 public:
  explicit GroupPlaces(const Cluster& cluster);

  /// `members` ranks, `stride` apart.
  [[nodiscard]] GroupGeometry group(std::int64_t members, std::int64_t stride) const;
  /// Whether some tensor group of every pipeline rank of one replica lies on two nodes, so that a
  /// whole pipeline waits for it.
  [[nodiscard]] bool straddles(const PlanPoint& point) const;
  /// The fastest that such a group can be.
  [[nodiscard]] GroupGeometry straddling(std::int64_t members) const;
  /// Equal for points of one tensor degree whose tensor groups cost the same.
  [[nodiscard]] std::int64_t tensor_place(const PlanPoint& point) const;
  /// Where all groups of the point sit, if all of a kind sit alike: points that agree in it, and in
  /// all but their rank order, cost the same.
  [[nodiscard]] std::optional<RankPlaces> exact_places(const PlanPoint& point) const;
  /// Two ranks `stride` apart that exchange a message while all like them do.
  [[nodiscard]] GroupGeometry ends(std::int64_t stride) const;

 private:
  [[nodiscard]] bool aligned(std::int64_t members, std::int64_t stride) const;

  std::int64_t per_node_ = 1;  ///< of the largest node
  bool uniform_ = true;
  LinkSpec intra_;  ///< fastest
  LinkSpec inter_;
};

}  // namespace stagewright
