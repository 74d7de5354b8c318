#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/schedule/schedule.h"

namespace stagewright {

/// Ranks sorted into classes such that all ranks of a class run one program, their peers lie in the
/// same classes slot by slot (under the same slot there), and so do the members of their groups.
/// This is the coarsest equitable partition (colour refinement).  Because every rank of a class
/// sees the same around it, all of them are at the same place whenever everything that can happen
/// has happened: one rank of each class stands for all in questions of progress.
struct RankClasses {
  std::vector<std::size_t> class_of_rank;  ///< classes are numbered by their lowest rank
  std::vector<RankId> lowest;              ///< by class
  /// By class, by peer slot: class of the peer, and under which of its slots it sees this rank.
  struct Peer {
    std::size_t rank_class = 0;
    std::optional<PeerSlot> back;
  };
  std::vector<std::vector<Peer>> peers;
  /// By class, by group slot: kind of group.  Groups of one kind have the same classes as members,
  /// each under the same slot.
  std::vector<std::vector<std::size_t>> group_kinds;
  /// By kind of group: the classes in it with their slots, each once.
  std::vector<std::vector<std::pair<std::size_t, GroupSlot>>> members;
};

/// What else tells ranks and groups apart, beside the schedule: unlike numbers never share a class
/// or kind.  Empty: nothing.
struct RankLabels {
  std::vector<std::int64_t> ranks;   ///< by RankId
  std::vector<std::int64_t> groups;  ///< by GroupId
};

[[nodiscard]] RankClasses classify_ranks(const Schedule& schedule, const RankLabels& labels = {});

}  // namespace stagewright
