#include "core/schedule/rank_classes.h"

#include <algorithm>
#include <map>
#include <optional>

namespace stagewright {
namespace {

using Signature = std::vector<std::int64_t>;

/// Numbers equal signatures alike, in order of first appearance.
class Numbering {
 public:
  /// Most signatures are known: only new ones are copied.
  std::size_t number(const Signature& signature) {
    const auto place = numbers_.lower_bound(signature);
    if (place != numbers_.end() && place->first == signature) {
      return place->second;
    }
    const std::size_t number = numbers_.size();
    numbers_.emplace_hint(place, signature, number);
    return number;
  }
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }
  [[nodiscard]] const std::map<Signature, std::size_t>& all() const { return numbers_; }

 private:
  std::map<Signature, std::size_t> numbers_;
};

class Refinement {
 public:
  Refinement(const Schedule& schedule, const RankLabels& labels)
      : schedule_(schedule), labels_(labels) {
    back_slots_.reserve(schedule.ranks.size());
    for (std::size_t r = 0; r < schedule.ranks.size(); ++r) {
      back_slots_.push_back(back_slots(RankId(r)));
    }
    members_.resize(schedule.groups.size());
    for (std::size_t g = 0; g < members_.size(); ++g) {
      members_[g].reserve(schedule.groups[g].members.size());
    }
    for (std::size_t r = 0; r < schedule.ranks.size(); ++r) {
      const auto& groups = schedule.ranks[r].groups;
      for (std::size_t slot = 0; slot < groups.size(); ++slot) {
        members_[groups[slot].index()].emplace_back(r, slot);
      }
    }
  }

  RankClasses run() {
    Numbering start;
    for (std::size_t r = 0; r < schedule_.ranks.size(); ++r) {
      const std::int64_t label = labels_.ranks.empty() ? 0 : labels_.ranks[r];
      classes_.push_back(start.number({schedule_.ranks[r].program.value(), label}));
    }
    for (std::size_t before = 0, now = start.size(); before != now;) {
      before = now;
      now = refine();
    }
    return result();
  }

 private:
  [[nodiscard]] std::vector<std::int64_t> back_slots(RankId rank) const {
    std::vector<std::int64_t> slots;
    slots.reserve(schedule_.ranks[rank.index()].peers.size());
    for (const RankId peer : schedule_.ranks[rank.index()].peers) {
      const auto& back = schedule_.ranks[peer.index()].peers;
      const auto found = std::ranges::find(back, rank);
      slots.push_back(found == back.end() ? -1 : found - back.begin());
    }
    return slots;
  }

  /// Number of each group by what its members look like.
  Numbering number_groups() {
    Numbering numbering;
    group_kinds_.clear();
    std::vector<std::pair<std::size_t, std::size_t>> seen;
    Signature signature;
    for (std::size_t g = 0; g < members_.size(); ++g) {
      seen.clear();
      for (const auto& [rank, slot] : members_[g]) {
        seen.emplace_back(classes_[rank], slot);
      }
      std::ranges::sort(seen);
      signature.assign(1, labels_.groups.empty() ? 0 : labels_.groups[g]);
      for (const auto& [rank_class, slot] : seen) {
        signature.push_back(static_cast<std::int64_t>(rank_class));
        signature.push_back(static_cast<std::int64_t>(slot));
      }
      group_kinds_.push_back(numbering.number(signature));
    }
    return numbering;
  }

  /// Splits classes whose ranks see different things; returns the number of classes.
  std::size_t refine() {
    number_groups();
    Numbering numbering;
    std::vector<std::size_t> refined;
    refined.reserve(schedule_.ranks.size());
    Signature signature;
    for (std::size_t r = 0; r < schedule_.ranks.size(); ++r) {
      const RankBinding& binding = schedule_.ranks[r];
      signature.assign(1, static_cast<std::int64_t>(classes_[r]));
      for (std::size_t slot = 0; slot < binding.peers.size(); ++slot) {
        signature.push_back(static_cast<std::int64_t>(classes_[binding.peers[slot].index()]));
        signature.push_back(back_slots_[r][slot]);
      }
      signature.push_back(-2);
      for (const GroupId group : binding.groups) {
        signature.push_back(static_cast<std::int64_t>(group_kinds_[group.index()]));
      }
      refined.push_back(numbering.number(signature));
    }
    classes_ = std::move(refined);
    return numbering.size();
  }

  RankClasses result() {
    const Numbering groups = number_groups();
    RankClasses found;
    found.class_of_rank = classes_;
    for (std::size_t r = 0; r < schedule_.ranks.size(); ++r) {
      if (classes_[r] < found.lowest.size()) {
        continue;
      }
      found.lowest.emplace_back(r);
      auto& peers = found.peers.emplace_back();
      const RankBinding& binding = schedule_.ranks[r];
      for (std::size_t slot = 0; slot < binding.peers.size(); ++slot) {
        const std::int64_t back = back_slots_[r][slot];
        peers.push_back(
            {classes_[binding.peers[slot].index()],
             back < 0 ? std::nullopt : std::optional(PeerSlot(static_cast<std::size_t>(back)))});
      }
      auto& kinds = found.group_kinds.emplace_back();
      for (const GroupId group : binding.groups) {
        kinds.push_back(group_kinds_[group.index()]);
      }
    }
    found.members.resize(groups.size());
    for (const auto& [signature, kind] : groups.all()) {
      for (std::size_t i = 1; i < signature.size(); i += 2) {  // behind the label
        const std::pair member(static_cast<std::size_t>(signature[i]),
                               GroupSlot(static_cast<std::size_t>(signature[i + 1])));
        if (found.members[kind].empty() || found.members[kind].back() != member) {
          found.members[kind].push_back(member);
        }
      }
    }
    return found;
  }

  const Schedule& schedule_;
  const RankLabels& labels_;
  std::vector<std::vector<std::int64_t>> back_slots_;                      ///< -1: none
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> members_;  ///< (rank, slot)
  std::vector<std::size_t> classes_;                                       ///< by rank
  std::vector<std::size_t> group_kinds_;                                   ///< by group
};

}  // namespace

RankClasses classify_ranks(const Schedule& schedule, const RankLabels& labels) {
  return Refinement(schedule, labels).run();
}

}  // namespace stagewright
