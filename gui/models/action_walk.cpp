#include "gui/models/action_walk.h"

#include <utility>

namespace stagewright::gui {

std::optional<ActionIndex> neighbour_in_lane(const ActionStore& store,
                                             ActionIndex action,
                                             Direction direction) {
  const Lane& lane = store.lanes[store.lane_of(action)];
  if (direction == Direction::kForth) {
    return action + 1 < lane.end ? std::optional(action + 1) : std::nullopt;
  }
  return action > lane.begin ? std::optional(action - 1) : std::nullopt;
}

std::optional<ActionIndex> nearest_in_lane(const ActionStore& store, LaneIndex index, double time) {
  const Lane& lane = store.lanes[index];
  if (lane.begin == lane.end) {
    return std::nullopt;
  }
  const ActionIndex after = store.first_ending_after(lane, time);
  if (after == lane.end) {
    return lane.end - 1;
  }
  if (after == lane.begin || static_cast<double>(store.start[after]) <= time) {
    return after;
  }
  const double to_next = static_cast<double>(store.start[after]) - time;
  const double to_last = time - static_cast<double>(store.end[after - 1]);
  return to_next <= to_last ? after : after - 1;
}

std::optional<ActionIndex> neighbour_in_rows(const ActionStore& store,
                                             const RowLayout& rows,
                                             ActionIndex action,
                                             Direction direction) {
  const auto row = rows.row_of(store.lane_of(action));
  if (!row) {
    return std::nullopt;
  }
  std::size_t at = *row;
  while (direction == Direction::kForth ? at + 1 < rows.rows.size() : at > 0) {
    at = direction == Direction::kForth ? at + 1 : at - 1;
    const auto lanes = rows.lanes_of(rows.rows[at]);
    if (rows.rows[at].kind != RowKind::kGroup && !lanes.empty()) {
      return nearest_in_lane(store, lanes.front(), static_cast<double>(store.start[action]));
    }
  }
  return std::nullopt;
}

std::optional<ActionIndex> neighbour_in_micro_batch(const ActionStore& store,
                                                    ActionIndex action,
                                                    Direction direction) {
  const auto key = [&](ActionIndex i) { return std::pair(store.start[i], i); };
  // Of steps that are compared, within the one that the action is of.
  const LaneUse use = store.lanes[store.lane_of(action)].use;
  std::optional<ActionIndex> best;
  for (const Lane& lane : store.lanes) {
    for (ActionIndex i = lane.begin; lane.use == use && i < lane.end; ++i) {
      if (store.micro_batch[i] != store.micro_batch[action] || !is_compute(store.kind[i])) {
        continue;
      }
      if (direction == Direction::kForth ? key(i) > key(action) && (!best || key(i) < key(*best))
                                         : key(i) < key(action) && (!best || key(i) > key(*best))) {
        best = i;
      }
    }
  }
  return best;
}

std::optional<ActionIndex> same_action(const ActionStore& store,
                                       ActionIndex action,
                                       const ActionStore& other) {
  const Lane& lane = store.lanes[store.lane_of(action)];
  for (const Lane& each : other.lanes_of(lane.rank)) {
    for (ActionIndex i = each.begin; each.use == lane.use && i < each.end; ++i) {
      if (other.kind[i] == store.kind[action] && other.stage[i] == store.stage[action] &&
          other.micro_batch[i] == store.micro_batch[action]) {
        return i;
      }
    }
  }
  return std::nullopt;
}

std::optional<ActionIndex> dragged_onto(const ActionStore& store, ActionIndex action, double time) {
  const Lane& lane = store.lanes[store.lane_of(action)];
  if (lane.use != LaneUse::kCompute) {
    return std::nullopt;
  }
  ActionIndex to = action;
  while (to + 1 < lane.end && is_compute(store.kind[to + 1]) &&
         static_cast<double>(store.start[to + 1]) < time) {
    ++to;
  }
  while (to > lane.begin && to <= action && static_cast<double>(store.end[to - 1]) > time) {
    --to;
  }
  return to == action ? std::nullopt : std::optional(to);
}

}  // namespace stagewright::gui
