#include "sim/engine/like_ranks.h"

#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/cluster/device_types.h"

namespace stagewright {
namespace {

/// Numbers keys by first appearance.
template <class Key>
class Numbering {
 public:
  /// Most keys are known: only new ones are copied.
  std::int64_t of(const Key& key) {
    const auto place = numbers_.lower_bound(key);
    if (place != numbers_.end() && place->first == key) {
      return place->second;
    }
    const auto number = static_cast<std::int64_t>(numbers_.size());
    numbers_.emplace_hint(place, key, number);
    return number;
  }

 private:
  std::map<Key, std::int64_t> numbers_;
};

}  // namespace

RankClasses like_ranks(const Schedule& schedule,
                       const Cluster& cluster,
                       const ScheduleGeometry& geometry) {
  const std::vector<std::int32_t> types = device_types(cluster);
  RankLabels labels;
  Numbering<std::vector<std::int32_t>> rank_numbers;
  std::vector<std::int32_t> key;
  labels.ranks.reserve(schedule.ranks.size());
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    key = geometry.of_peers[rank];
    key.push_back(types[schedule.ranks[rank].device.index()]);
    labels.ranks.push_back(rank_numbers.of(key));
  }
  Numbering<std::pair<std::string, std::int32_t>> group_numbers;
  labels.groups.reserve(schedule.groups.size());
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
