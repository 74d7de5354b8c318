#pragma once

/// The actions of a step as columns, lane by lane: what every view reads.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/schedule/action.h"
#include "core/trace/trace.h"

namespace stagewright::gui {

using ActionIndex = std::size_t;  ///< into the columns of an ActionStore
using LaneIndex = std::size_t;    ///< into ActionStore::lanes

/// What a lane holds.
enum class LaneUse : std::uint8_t {
  kCompute,      ///< stage work and the optimizer
  kTransfers,    ///< messages between stages
  kCollectives,  ///< reductions and gathers
  kCompared,     ///< stage work of the step beside this one
  kError,        ///< how far that is off, action by action
};
[[nodiscard]] LaneUse lane_use_of(ActionKind kind);

/// Actions of one rank that do not overlap: a stretch of the columns.
struct Lane {
  RankId rank;
  LaneUse use = LaneUse::kCompute;
  std::int32_t number = 0;  ///< among the rank's lanes of that use; above 0 where actions overlap
  ActionIndex begin = 0;
  ActionIndex end = 0;
  friend bool operator==(const Lane&, const Lane&) = default;
};

/// Lanes stand by rank, then use, then number; inside one, actions ascend and are disjoint.
/// Times are picoseconds from the start of the step.
struct ActionStore {
  std::vector<std::int64_t> start;
  std::vector<std::int64_t> end;
  std::vector<std::int32_t> micro_batch;
  std::vector<std::int32_t> stage;
  std::vector<std::int32_t> place;  ///< in the rank's list
  std::vector<ActionKind> kind;
  std::vector<std::uint8_t> chunk;  ///< place of the stage among those of its rank, at most 255
  std::vector<float> error;  ///< of lanes of kError: second / first - 1; empty where none compares
  std::vector<Lane> lanes;
  std::int64_t length = 0;  ///< from zero to the last end
  std::int32_t ranks = 0;   ///< one above the highest rank that has an action

  [[nodiscard]] std::size_t size() const { return start.size(); }
  [[nodiscard]] LaneIndex lane_of(ActionIndex action) const;
  /// The lanes of a rank.
  [[nodiscard]] std::span<const Lane> lanes_of(RankId rank) const;
  /// The action of a lane at that time, or nothing in a gap.
  [[nodiscard]] std::optional<ActionIndex> at(const Lane& lane, double time) const;
  /// The first action of a lane that ends after that time; the lane's end if there is none.
  [[nodiscard]] ActionIndex first_ending_after(const Lane& lane, double time) const;
  /// The action at a place of a rank's list.
  [[nodiscard]] std::optional<ActionIndex> find(RankId rank, std::int32_t place) const;
  [[nodiscard]] Duration duration(ActionIndex action) const {
    return Duration(end[action] - start[action]);
  }
};

/// The actions of one step that take time, and computing ones that take none.  An optimizer step
/// that waits inside (core/trace/optimizer_waits.h) stands in parts, with the idle time between.
[[nodiscard]] ActionStore store_actions(const Trace& trace, std::int32_t step);
/// Whether the action of a lane is a further part of the one in front of it.
[[nodiscard]] bool goes_on(const ActionStore& store, const Lane& lane, ActionIndex action);

/// "F12" as boxes show it.
[[nodiscard]] std::string short_name(const ActionStore& store, ActionIndex action);
}  // namespace stagewright::gui
