#include "sim/cost/schedule_geometry.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
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
  /// Geometries of messages, by what tells them apart: whether both ends are on one node, the kind
  /// of either end's node, and how many leave it.
  using Ends = std::tuple<bool, std::int32_t, std::int32_t, std::int32_t>;
  /// Groups or messages that leave each node.
  using Leaving = std::vector<std::int32_t>;

  void add_groups() {
    std::vector<ByNode> members;
    std::map<std::string, Leaving> leaving;  // by kind
    for (const Group& group : schedule_.groups) {
      ByNode& by_node = members.emplace_back();
      // Members of one node most often follow each other.
      auto last = by_node.end();
      for (const RankId rank : group.members) {
        const NodeId node = node_of_rank_[rank.index()];
        if (last == by_node.end() || last->first != node) {
          last = by_node.try_emplace(node, 0).first;
        }
        ++last->second;
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
    std::vector<std::vector<Leaving>> leaving(schedule_.programs.size());
    for (std::size_t rank = 0; rank < schedule_.ranks.size(); ++rank) {
      const RankBinding& binding = schedule_.ranks[rank];
      std::vector<Leaving>& of_program = leaving[binding.program.index()];
      if (of_program.size() < binding.peers.size()) {
        of_program.resize(binding.peers.size(), Leaving(cluster_.nodes.size(), 0));
      }
      for (std::size_t slot = 0; slot < binding.peers.size(); ++slot) {
        of_program[slot][node_of_rank_[rank].index()] += leaves_node(rank, slot) ? 1 : 0;
      }
    }
    result_.of_peers.reserve(schedule_.ranks.size());
    for (std::size_t rank = 0; rank < schedule_.ranks.size(); ++rank) {
      const RankBinding& binding = schedule_.ranks[rank];
      std::vector<std::int32_t>& of_peers = result_.of_peers.emplace_back();
      of_peers.reserve(binding.peers.size());
      const NodeId node = node_of_rank_[rank];
      for (std::size_t slot = 0; slot < binding.peers.size(); ++slot) {
        const std::int32_t busy =
            leaves_node(rank, slot) ? leaving[binding.program.index()][slot][node.index()] : 1;
        of_peers.push_back(index_of(node, node_of_rank_[binding.peers[slot].index()], busy));
      }
    }
  }

  [[nodiscard]] std::int32_t index_of(NodeId from, NodeId to, std::int32_t busy) {
    const auto kind = [&](NodeId node) { return cluster_.nodes[node.index()].devices.front(); };
    const auto [found, is_new] = of_ends_.try_emplace({from == to, kind(from), kind(to), busy}, 0);
    if (is_new) {
      ByNode ends;
      ++ends[from];
      ++ends[to];
      found->second = index_of(ends, busy);
    }
    return found->second;
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
  std::map<Ends, std::int32_t> of_ends_;
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
