#include "sim/engine/rank_classes.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace stagewright {
namespace {

using Key = std::vector<std::int32_t>;

/// Numbers keys by first appearance.
class Numbering {
 public:
  std::int32_t of(Key key) {
    return numbers_.try_emplace(std::move(key), static_cast<std::int32_t>(numbers_.size()))
        .first->second;
  }
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }

 private:
  std::map<Key, std::int32_t> numbers_;
};

/// Which devices have the same type.
std::vector<std::int32_t> device_types(const Cluster& cluster) {
  std::vector<std::int32_t> types;
  for (const Node& node : cluster.nodes) {
    types.insert(types.end(), node.devices.begin(), node.devices.end());
  }
  return types;
}

std::int32_t slot_of(const RankBinding& binding, GroupId group) {
  return static_cast<std::int32_t>(std::ranges::find(binding.groups, group) -
                                   binding.groups.begin());
}

class Refinement {
 public:
  Refinement(const Schedule& schedule, const ScheduleGeometry& geometry)
      : schedule_(schedule), geometry_(geometry), group_colors_(schedule.groups.size()) {
    std::map<std::string, std::int32_t> kinds;
    for (const Group& group : schedule.groups) {
      group_kinds_.push_back(
          kinds.try_emplace(group.kind, static_cast<std::int32_t>(kinds.size())).first->second);
    }
  }

  void color_by_program(const Cluster& cluster) {
    const std::vector<std::int32_t> types = device_types(cluster);
    Numbering numbering;
    for (std::size_t rank = 0; rank < schedule_.ranks.size(); ++rank) {
      const RankBinding& binding = schedule_.ranks[rank];
      Key key{binding.program.value(), types[binding.device.index()]};
      for (const std::int32_t peer : geometry_.of_peers[rank]) {
        key.push_back(peer);
      }
      colors_.push_back(numbering.of(std::move(key)));
    }
    count_ = numbering.size();
  }

  /// Refines until no class falls apart any more.
  void run() {
    std::size_t before = 0;
    do {
      before = count_;
      color_groups();
      color_ranks();
    } while (count_ > before);
    color_groups();
  }

  [[nodiscard]] RankClasses result() && {
    RankClasses result;
    result.classes.resize(count_);
    for (std::size_t rank = 0; rank < colors_.size(); ++rank) {
      RankClasses::Class& one = result.classes[static_cast<std::size_t>(colors_[rank])];
      if (one.ranks++ == 0) {
        one.first = RankId(rank);
      }
    }
    result.of_rank = std::move(colors_);
    result.of_group = std::move(group_colors_);
    result.in_step = std::move(in_step_);
    return result;
  }

 private:
  /// A group is what it is for, where it lies, and which classes its members are of.
  void color_groups() {
    Numbering numbering;
    in_step_.clear();
    for (std::size_t g = 0; g < schedule_.groups.size(); ++g) {
      std::vector<std::pair<std::int32_t, std::int32_t>> members;  // class, slot
      for (const RankId rank : schedule_.groups[g].members) {
        members.emplace_back(colors_[rank.index()],
                             slot_of(schedule_.ranks[rank.index()], GroupId(g)));
      }
      std::ranges::sort(members);
      members.erase(std::unique(members.begin(), members.end()), members.end());
      Key key{group_kinds_[g], geometry_.of_group[g]};
      for (const auto& [color, slot] : members) {
        key.insert(key.end(), {color, slot});
      }
      group_colors_[g] = numbering.of(std::move(key));
      in_step_.push_back(members.size() == 1);
    }
  }

  void color_ranks() {
    Numbering numbering;
    std::vector<std::int32_t> refined;
    for (std::size_t rank = 0; rank < schedule_.ranks.size(); ++rank) {
      Key key{colors_[rank]};
      for (const GroupId group : schedule_.ranks[rank].groups) {
        key.push_back(group_colors_[group.index()]);
      }
      for (const RankId peer : schedule_.ranks[rank].peers) {
        key.push_back(colors_[peer.index()]);
      }
      refined.push_back(numbering.of(std::move(key)));
    }
    colors_ = std::move(refined);
    count_ = numbering.size();
  }

  const Schedule& schedule_;
  const ScheduleGeometry& geometry_;
  std::vector<std::int32_t> group_kinds_;
  std::vector<std::int32_t> colors_;  ///< by rank
  std::vector<std::int32_t> group_colors_;
  std::vector<bool> in_step_;
  std::size_t count_ = 0;
};

}  // namespace

RankClasses find_rank_classes(const Schedule& schedule,
                              const Cluster& cluster,
                              const ScheduleGeometry& geometry) {
  Refinement refinement(schedule, geometry);
  refinement.color_by_program(cluster);
  refinement.run();
  return std::move(refinement).result();
}

RankClasses one_class_per_rank(const Schedule& schedule) {
  RankClasses result;
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    result.classes.push_back({RankId(rank), 1});
    result.of_rank.push_back(static_cast<std::int32_t>(rank));
  }
  for (std::size_t group = 0; group < schedule.groups.size(); ++group) {
    result.of_group.push_back(static_cast<std::int32_t>(group));
    result.in_step.push_back(schedule.groups[group].members.size() == 1);
  }
  return result;
}

}  // namespace stagewright
