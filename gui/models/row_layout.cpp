#include "gui/models/row_layout.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace stagewright::gui {
namespace {

constexpr double kGroupHeight = 18;
constexpr double kGapBetweenRanks = 3;

double share_of_height(LaneUse use) {
  switch (use) {
    case LaneUse::kCompute:
    case LaneUse::kCompared:
      return 1;
    case LaneUse::kTransfers:
    case LaneUse::kCollectives:
      return 0.5;
    case LaneUse::kError:
      return 0.35;
  }
  return 1;
}

class Layouter {
 public:
  Layouter(const ActionStore& store, const RowChoices& choices, RowLayout& layout)
      : store_(store), choices_(choices), layout_(layout) {}

  void add_rank(RankId rank, std::optional<std::int32_t> group, bool pinned) {
    const bool merged = choices_.height < kLeastHeightForLanes;
    const double full = choices_.height;
    if (merged) {
      LaidOutRow row = new_row(RowKind::kMerged, rank, full);
      row.group = group;
      row.pinned = pinned;
      add_lanes(rank);
      push(row);
      return;
    }
    for (const Lane& lane : store_.lanes_of(rank)) {
      const bool talks = lane.use == LaneUse::kTransfers || lane.use == LaneUse::kCollectives;
      if (talks && !choices_.communication) {
        continue;
      }
      LaidOutRow row = new_row(RowKind::kLane, rank, full * share_of_height(lane.use));
      row.group = group;
      row.pinned = pinned;
      layout_.lanes.push_back(static_cast<LaneIndex>(&lane - store_.lanes.data()));
      push(row);
    }
    if (full >= kLeastHeightForText) {
      layout_.height += kGapBetweenRanks;
    }
  }

  void add_group(std::int32_t group, const std::vector<RankId>& ranks) {
    const bool collapsed = choices_.collapsed.contains(group);
    LaidOutRow row = new_row(RowKind::kGroup, ranks.front(), kGroupHeight);
    row.group = group;
    row.collapsed = collapsed;
    for (const RankId rank : ranks) {
      add_lanes(rank);
    }
    push(row);
    if (!collapsed) {
      for (const RankId rank : ranks) {
        add_rank(rank, group, false);
      }
    }
  }

 private:
  [[nodiscard]] LaidOutRow new_row(RowKind kind, RankId rank, double height) const {
    return {.kind = kind,
            .group = {},
            .rank = rank,
            .lanes_begin = static_cast<std::uint32_t>(layout_.lanes.size()),
            .y = layout_.height,
            .height = height};
  }

  void add_lanes(RankId rank) {
    for (const Lane& lane : store_.lanes_of(rank)) {
      if (lane.use == LaneUse::kCompute) {
        layout_.lanes.push_back(static_cast<LaneIndex>(&lane - store_.lanes.data()));
      }
    }
  }

  void push(LaidOutRow row) {
    row.lanes_end = static_cast<std::uint32_t>(layout_.lanes.size());
    layout_.height += row.height;
    layout_.rows.push_back(row);
  }

  const ActionStore& store_;
  const RowChoices& choices_;
  RowLayout& layout_;
};

/// Rows of ranks go before those of their groups.
void index_lanes(RowLayout& layout, std::size_t lanes) {
  layout.row_of_lane.assign(lanes, std::nullopt);
  for (const bool groups : {true, false}) {
    for (std::size_t i = 0; i < layout.rows.size(); ++i) {
      if ((layout.rows[i].kind == RowKind::kGroup) == groups) {
        for (const LaneIndex lane : layout.lanes_of(layout.rows[i])) {
          layout.row_of_lane[lane] = static_cast<std::uint32_t>(i);
        }
      }
    }
  }
}

std::vector<RankId> ranks_with_lanes(const ActionStore& store) {
  std::vector<RankId> ranks;
  for (const Lane& lane : store.lanes) {
    if (ranks.empty() || ranks.back() != lane.rank) {
      ranks.push_back(lane.rank);
    }
  }
  return ranks;
}

}  // namespace

std::optional<std::size_t> RowLayout::row_at(double at) const {
  if (rows.empty()) {
    return std::nullopt;
  }
  const auto after = std::ranges::upper_bound(rows, at, {}, &LaidOutRow::y);
  return after == rows.begin() ? 0 : static_cast<std::size_t>(after - rows.begin()) - 1;
}

RowLayout lay_out_rows(const ActionStore& store, const RankAxes& axes, const RowChoices& choices) {
  RowLayout layout;
  Layouter layouter(store, choices, layout);
  for (const RankId rank : choices.pinned) {
    if (!store.lanes_of(rank).empty()) {  // it may have been pinned in another file
      layouter.add_rank(rank, std::nullopt, true);
    }
  }
  const auto axis = std::ranges::find_if(
      axes, [&](const RankAxis& a) { return choices.group_by && a.name == *choices.group_by; });
  std::map<std::int32_t, std::vector<RankId>> groups;
  for (const RankId rank : ranks_with_lanes(store)) {
    if (choices.hidden.contains(rank) ||
        std::ranges::find(choices.pinned, rank) != choices.pinned.end()) {
      continue;
    }
    if (axis == axes.end()) {
      layouter.add_rank(rank, std::nullopt, false);
    } else {
      groups[axis->position[rank.index()]].push_back(rank);
    }
  }
  if (axis != axes.end()) {
    layout.axis = axis->name;
  }
  for (const auto& [group, ranks] : groups) {
    layouter.add_group(group, ranks);
  }
  index_lanes(layout, store.lanes.size());
  return layout;
}

std::string label_of(const RowLayout& layout, const LaidOutRow& row, const ActionStore& store) {
  if (row.kind == RowKind::kGroup) {
    return fmt::format("{} {}", layout.axis, row.group.value_or(0));
  }
  const std::string rank = fmt::format("rank {}", row.rank.value());
  if (row.kind == RowKind::kMerged) {
    return rank;
  }
  const Lane& lane = store.lanes[layout.lanes[row.lanes_begin]];
  const std::string number = lane.number == 0 ? "" : fmt::format(" {}", lane.number + 1);
  switch (lane.use) {
    case LaneUse::kCompute:
      return rank + number;
    case LaneUse::kTransfers:
      return rank + " transfers" + number;
    case LaneUse::kCollectives:
      return rank + " collectives" + number;
    case LaneUse::kCompared:
      return rank + " compared" + number;
    case LaneUse::kError:
      return rank + " error" + number;
  }
  return rank;
}

}  // namespace stagewright::gui
