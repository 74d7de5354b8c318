#pragma once

/// From one action to others, as arrow keys go.

#include <optional>

#include "gui/models/action_store.h"
#include "gui/models/row_layout.h"

namespace stagewright::gui {

enum class Direction : std::uint8_t {
  kBack,
  kForth
};

/// The neighbour in the action's lane.
[[nodiscard]] std::optional<ActionIndex> neighbour_in_lane(const ActionStore& store,
                                                           ActionIndex action,
                                                           Direction direction);
/// What goes on at the action's start in the next row below (kForth) or above, else the nearest
/// there.  Rows of groups are passed over.
[[nodiscard]] std::optional<ActionIndex> neighbour_in_rows(const ActionStore& store,
                                                           const RowLayout& rows,
                                                           ActionIndex action,
                                                           Direction direction);
/// The next computing action of the same micro-batch by start, over all ranks; nothing
/// for messages.  Looks at all actions.
[[nodiscard]] std::optional<ActionIndex> neighbour_in_micro_batch(const ActionStore& store,
                                                                  ActionIndex action,
                                                                  Direction direction);
/// The action of a lane that is at a time, or the nearest to it; nothing for an empty lane.
[[nodiscard]] std::optional<ActionIndex> nearest_in_lane(const ActionStore& store,
                                                         LaneIndex lane,
                                                         double time);
/// The action of the same rank, kind, stage and micro-batch in another version of the step.
[[nodiscard]] std::optional<ActionIndex> same_action(const ActionStore& store,
                                                     ActionIndex action,
                                                     const ActionStore& other);
/// The action on the same compute lane that stands where one dragged to that time would go: the
/// last that begins before it when dragged forth, the first that ends after it when dragged back.
/// Nothing where it stays.
[[nodiscard]] std::optional<ActionIndex> dragged_onto(const ActionStore& store,
                                                      ActionIndex action,
                                                      double time);

}  // namespace stagewright::gui
