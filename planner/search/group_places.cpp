#include "planner/search/group_places.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "planner/search/dimension.h"

namespace stagewright {
namespace {

enum class Axis : std::uint8_t {
  kTensor,
  kData,
  kPipeline
};
using AxisOrder = std::array<Axis, 3>;

/// rank_orders() without context parallelism, which has no group here.
std::vector<AxisOrder> axis_orders() {
  std::vector<AxisOrder> orders;
  for (const RankOrder& order : rank_orders()) {
    AxisOrder& axes = orders.emplace_back();
    std::size_t next = 0;
    for (const std::string& axis : order) {
      if (axis != "cp") {
        axes[next++] = axis == "tp" ? Axis::kTensor : axis == "dp" ? Axis::kData : Axis::kPipeline;
      }
    }
  }
  return orders;
}

void keep_fastest(LinkSpec& kept, const LinkSpec& link) {
  if (link.bandwidth.count() * link.efficiency > kept.bandwidth.count() * kept.efficiency) {
    kept = link;
  }
}

}  // namespace

RankStrides strides_of(const PlanPoint& point) {
  static const std::vector<AxisOrder> kOrders = axis_orders();
  RankStrides strides;
  std::int64_t stride = 1;
  for (const Axis axis : kOrders[static_cast<std::size_t>(point.rank_order)]) {
    if (axis == Axis::kTensor) {
      strides.tensor = stride;
      stride *= point.tp;
    } else if (axis == Axis::kData) {
      strides.data = stride;
      stride *= point.dp;
    } else {
      strides.pipeline = stride;
      stride *= point.pp;
    }
  }
  return strides;
}

GroupPlaces::GroupPlaces(const Cluster& cluster) {
  intra_ = cluster.intra_link(NodeId(0));
  inter_ = cluster.inter_link(NodeId(0));
  for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
    const Node& node = cluster.nodes[n];
    uniform_ = uniform_ && node.devices == cluster.nodes.front().devices;
    per_node_ = std::max(per_node_, static_cast<std::int64_t>(node.devices.size()));
    if (n == 0 || node.devices != cluster.nodes[n - 1].devices) {
      keep_fastest(intra_, cluster.intra_link(NodeId(n)));
      keep_fastest(inter_, cluster.inter_link(NodeId(n)));
    }
  }
}

GroupGeometry GroupPlaces::group(std::int64_t members, std::int64_t stride) const {
  const std::int64_t inside =
      std::clamp<std::int64_t>((per_node_ + stride - 1) / stride, 1, members);
  GroupGeometry group;
  group.members = static_cast<std::int32_t>(members);
  group.members_per_node = static_cast<std::int32_t>(inside);
  group.nodes = static_cast<std::int32_t>((members + inside - 1) / inside);
  group.intra_node = intra_;
  group.inter_node = inter_;
  if (group.nodes == 1 || !uniform_) {
    return group;
  }
  if (stride % per_node_ == 0) {
    group.groups_per_node = static_cast<std::int32_t>(per_node_);
  } else if (per_node_ % stride == 0 && members * stride % per_node_ == 0) {
    group.groups_per_node = static_cast<std::int32_t>(stride);
  }
  return group;
}

bool GroupPlaces::straddles(const PlanPoint& point) const {
  const RankStrides strides = strides_of(point);
  const std::int64_t block = std::int64_t{point.tp} * point.dp;
  return uniform_ && point.tp < per_node_ && per_node_ % point.tp != 0 && strides.tensor == 1 &&
         strides.data == point.tp && block % per_node_ == 0;
}

GroupGeometry GroupPlaces::straddling(std::int64_t members) const {
  GroupGeometry group = this->group(members, 1);
  group.nodes = 2;
  group.members_per_node = static_cast<std::int32_t>(members - 1);
  return group;
}

std::int64_t GroupPlaces::tensor_place(const PlanPoint& point) const {
  if (point.tp == 1) {
    return 0;
  }
  if (straddles(point)) {
    return -1;
  }
  const GroupGeometry group = this->group(point.tp, strides_of(point).tensor);
  return std::int64_t{group.members_per_node} << 32U | group.groups_per_node;
}

/// Whether groups and nodes divide each other, so that no group lies otherwise than its fellows.
bool GroupPlaces::aligned(std::int64_t members, std::int64_t stride) const {
  const std::int64_t block = members * stride;
  return members == 1 || per_node_ % block == 0 || stride % per_node_ == 0 ||
         (per_node_ % stride == 0 && block % per_node_ == 0);
}

std::optional<RankPlaces> GroupPlaces::exact_places(const PlanPoint& point) const {
  const RankStrides strides = strides_of(point);
  if (!uniform_ || !aligned(point.tp, strides.tensor) || !aligned(point.dp, strides.data) ||
      !aligned(point.pp, strides.pipeline)) {
    return std::nullopt;
  }
  RankPlaces places{};
  std::size_t next = 0;
  const auto add = [&](std::int64_t members, const GroupGeometry& group) {
    if (members > 1) {
      places[next] = group.members_per_node;
      places[next + 1] = group.nodes;
      places[next + 2] = group.groups_per_node;
    }
    next += 3;
  };
  add(point.tp, this->group(point.tp, strides.tensor));
  add(point.dp, this->group(point.dp, strides.data));
  add(point.pp, this->group(point.pp, strides.pipeline));
  return places;
}

GroupGeometry GroupPlaces::ends(std::int64_t stride) const {
  GroupGeometry ends = group(2, stride);
  if (ends.nodes > 1) {
    ends.members_per_node = 1;
    ends.groups_per_node =
        uniform_ && stride % per_node_ == 0 ? static_cast<std::int32_t>(per_node_) : 1;
  }
  return ends;
}

}  // namespace stagewright
