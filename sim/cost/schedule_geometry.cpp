#include "sim/cost/schedule_geometry.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace stagewright {
namespace {

class GeometryBuilder {
 public:
  GeometryBuilder(const Schedule& schedule, const Cluster& cluster)
      : schedule_(schedule), cluster_(cluster), node_of_device_(cluster.node_table()) {}

  [[nodiscard]] Result<void> find_nodes() {
    for (std::size_t rank = 0; rank < schedule_.ranks.size(); ++rank) {
      const DeviceId device = schedule_.ranks[rank].device;
      if (device.value() < 0 || device.index() >= node_of_device_.size()) {
        return fail(ErrorCode::kInvalidInput,
                    fmt::format("rank {} runs on device {}, but the cluster {} has {} devices; use "
                                "the cluster that the schedule was made for",
                                rank,
                                device.value(),
                                cluster_.name,
                                node_of_device_.size()));
      }
      node_of_rank_.push_back(node_of_device_[device.index()]);
    }
    return {};
  }

  [[nodiscard]] ScheduleGeometry build() && {
    add_groups();
    add_peers();
    return std::move(result_);
  }

 private:
  using ByNode = std::map<NodeId, std::int32_t>;
  /// Groups or messages that leave each node.
  using Leaving = std::vector<std::int32_t>;

  void add_groups() {
    std::vector<ByNode> members;
    std::map<std::string, Leaving> leaving;  // by kind
    for (const Group& group : schedule_.groups) {
      ByNode& by_node = members.emplace_back();
      for (const RankId rank : group.members) {
        ++by_node[node_of_rank_[rank.index()]];
      }
      Leaving& counts = leaving[group.kind];
      counts.resize(cluster_.nodes.size());
      for (const auto& [node, count] : by_node) {
        counts[node.index()] += by_node.size() > 1 ? 1 : 0;
      }
    }
    for (std::size_t g = 0; g < members.size(); ++g) {
      std::int32_t busiest = 1;
      if (members[g].size() > 1) {
        const Leaving& counts = leaving[schedule_.groups[g].kind];
        for (const auto& [node, count] : members[g]) {
          busiest = std::max(busiest, counts[node.index()]);
        }
      }
      result_.of_group.push_back(index_of(members[g], busiest));
    }
  }

  void add_peers() {
    // Ranks with one program send over one peer slot at the same place of their lists.
    std::map<std::pair<ProgramId, std::size_t>, Leaving> leaving;
    for (std::size_t rank = 0; rank < schedule_.ranks.size(); ++rank) {
      const RankBinding& binding = schedule_.ranks[rank];
      for (std::size_t slot = 0; slot < binding.peers.size(); ++slot) {
        Leaving& counts = leaving[{binding.program, slot}];
        counts.resize(cluster_.nodes.size());
        counts[node_of_rank_[rank].index()] += leaves_node(rank, slot) ? 1 : 0;
      }
    }
    for (std::size_t rank = 0; rank < schedule_.ranks.size(); ++rank) {
      const RankBinding& binding = schedule_.ranks[rank];
      std::vector<std::int32_t>& of_peers = result_.of_peers.emplace_back();
      for (std::size_t slot = 0; slot < binding.peers.size(); ++slot) {
        const NodeId node = node_of_rank_[rank];
        const Leaving& counts = leaving[{binding.program, slot}];
        ByNode ends;
        ++ends[node];
        ++ends[node_of_rank_[binding.peers[slot].index()]];
        of_peers.push_back(index_of(ends, leaves_node(rank, slot) ? counts[node.index()] : 1));
      }
    }
  }

  [[nodiscard]] bool leaves_node(std::size_t rank, std::size_t slot) const {
    const RankId peer = schedule_.ranks[rank].peers[slot];
    return node_of_rank_[peer.index()] != node_of_rank_[rank];
  }

  [[nodiscard]] std::int32_t index_of(const ByNode& members, std::int32_t groups_per_node) {
    // Nodes with the same first device have the same links: enough to tell geometries apart.
    Key key{groups_per_node, static_cast<std::int32_t>(members.size())};
    std::map<std::int32_t, std::int32_t> per_kind_of_node;
    std::int32_t largest = 0;
    for (const auto& [node, count] : members) {
      per_kind_of_node[cluster_.nodes[node.index()].devices.front()] += count;
      largest = std::max(largest, count);
    }
    key.push_back(largest);
    for (const auto& [kind, count] : per_kind_of_node) {
      key.insert(key.end(), {kind, count});
    }
    const auto [found, is_new] =
        known_.try_emplace(std::move(key), static_cast<std::int32_t>(result_.distinct.size()));
    if (is_new) {
      result_.distinct.push_back(geometry_of(cluster_, members, groups_per_node));
    }
    return found->second;
  }

  using Key = std::vector<std::int32_t>;

  const Schedule& schedule_;
  const Cluster& cluster_;
  std::vector<NodeId> node_of_device_;
  std::vector<NodeId> node_of_rank_;
  std::map<Key, std::int32_t> known_;
  ScheduleGeometry result_;
};

}  // namespace

Result<ScheduleGeometry> schedule_geometry(const Schedule& schedule, const Cluster& cluster) {
  GeometryBuilder builder(schedule, cluster);
  if (auto found = builder.find_nodes(); !found) {
    return pass_on(std::move(found));
  }
  return std::move(builder).build();
}

}  // namespace stagewright
