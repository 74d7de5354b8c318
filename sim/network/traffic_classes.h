#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/cluster/cluster.h"
#include "core/schedule/rank_classes.h"
#include "core/schedule/schedule.h"
#include "sim/cost/schedule_geometry.h"
#include "sim/network/cluster_links.h"
#include "sim/network/link_network.h"

namespace stagewright {

/// Who can be simulated for whom although links are shared: classes of ranks that are alike in what
/// they do (like_ranks) and in the traffic that they meet, with classes of links such that every
/// link of a class carries as many flows of each class as any other does (the coarsest equitable
/// partition of ranks, flows and links, found by colour refinement).  Max-min fair rates are
/// unique, so that flows of one class have one rate at every moment, and one of them stands for all
/// if it counts on a link as often as there are flows of its class.
class TrafficClasses {
 public:
  /// `labels`, by rank: unlike numbers are never in one class.  Routes are added to
  /// `network`, that of `links`, to find out who meets whom. REQUIRES: `geometry` belongs to this
  /// schedule and cluster; every rank has a device to itself.
  TrafficClasses(const Schedule& schedule,
                 const Cluster& cluster,
                 const ScheduleGeometry& geometry,
                 std::span<const std::int64_t> labels,
                 ClusterLinks& links,
                 const LinkNetwork& network);

  [[nodiscard]] const RankClasses& ranks() const { return ranks_; }

  using Uses = std::vector<LinkUse>;
  /// What a route uses when its flow stands for all of its class: one link of every class.
  [[nodiscard]] Uses fold_message(RankId sender,
                                  PeerSlot slot,
                                  std::span<const LinkUse> uses) const;
  [[nodiscard]] Uses fold_group(GroupId group, std::span<const LinkUse> uses) const;

 private:
  /// What somebody sends: over a peer slot, or within a group.
  struct Flow {
    Uses uses;
    std::size_t flow_class = 0;
  };
  [[nodiscard]] static Flow flow_over(const LinkNetwork& network, RouteIndex route);
  void add_flows(const Schedule& schedule, ClusterLinks& links, const LinkNetwork& network);
  [[nodiscard]] std::size_t refine(const Schedule& schedule, const LinkNetwork& network);
  void number_flows(const Schedule& schedule);
  [[nodiscard]] std::size_t number_links(const LinkNetwork& network);
  [[nodiscard]] std::vector<std::int64_t> view_of(const Flow& flow) const;
  void relabel(const Schedule& schedule);
  void count_flows(const LinkNetwork& network);
  [[nodiscard]] Uses fold(const Flow& flow, std::span<const LinkUse> uses) const;

  RankLabels labels_;
  RankClasses ranks_;
  std::vector<std::size_t> kind_of_group_;
  std::vector<std::vector<Flow>> messages_;  ///< by rank and peer slot
  std::vector<Flow> collectives_;            ///< by group
  std::vector<std::size_t> class_of_link_;
  std::vector<LinkIndex> link_of_class_;  ///< the lowest
  /// By class of flows and class of links: weight of all of them on one link.
  std::map<std::pair<std::size_t, std::size_t>, double> total_;
};

}  // namespace stagewright
