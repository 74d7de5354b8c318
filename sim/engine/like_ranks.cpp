#include "sim/engine/like_ranks.h"

#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace stagewright {
namespace {

/// Numbers keys by first appearance.
template <class Key>
class Numbering {
 public:
  std::int64_t of(Key key) {
    return numbers_.try_emplace(std::move(key), static_cast<std::int64_t>(numbers_.size()))
        .first->second;
  }

 private:
  std::map<Key, std::int64_t> numbers_;
};

/// Type of each device, into Cluster::types.
std::vector<std::int32_t> device_types(const Cluster& cluster) {
  std::vector<std::int32_t> types;
  for (const Node& node : cluster.nodes) {
    types.insert(types.end(), node.devices.begin(), node.devices.end());
  }
  return types;
}

}  // namespace

RankClasses like_ranks(const Schedule& schedule,
                       const Cluster& cluster,
                       const ScheduleGeometry& geometry) {
  const std::vector<std::int32_t> types = device_types(cluster);
  RankLabels labels;
  Numbering<std::vector<std::int32_t>> rank_numbers;
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    std::vector<std::int32_t> key = geometry.of_peers[rank];
    key.push_back(types[schedule.ranks[rank].device.index()]);
    labels.ranks.push_back(rank_numbers.of(std::move(key)));
  }
  Numbering<std::pair<std::string, std::int32_t>> group_numbers;
  for (std::size_t group = 0; group < schedule.groups.size(); ++group) {
    labels.groups.push_back(
        group_numbers.of({schedule.groups[group].kind, geometry.of_group[group]}));
  }
  return classify_ranks(schedule, labels);
}

RankClasses unlike_ranks(const Schedule& schedule) {
  RankLabels labels;
  labels.ranks.resize(schedule.ranks.size());
  std::iota(labels.ranks.begin(), labels.ranks.end(), 0);
  return classify_ranks(schedule, labels);
}

bool in_step(const RankClasses& classes, std::size_t rank_class, GroupSlot slot) {
  return classes.members[classes.group_kinds[rank_class][slot.index()]].size() == 1;
}

}  // namespace stagewright
