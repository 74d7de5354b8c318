#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "gui/models/action_store.h"
#include "gui/models/rank_axes.h"

namespace stagewright::gui {

/// What a user chose about the rows of a timeline.
struct RowChoices {
  double height = 22;                   ///< of a compute lane, in pixels; may be below 1
  std::optional<std::string> group_by;  ///< name of a RankAxis
  std::set<std::int32_t> collapsed;     ///< groups that show one band
  std::set<RankId> hidden;
  std::vector<RankId> pinned;  ///< stand first, in this order
  bool communication = true;   ///< rows of transfers and collectives
  friend bool operator==(const RowChoices&, const RowChoices&) = default;
};

/// Below this height a rank is one row, of its computing alone: rows of two kinds that thin would
/// alias into patterns that are not there.
inline constexpr double kLeastHeightForLanes = 4;
/// From this height on boxes carry numbers.
inline constexpr double kLeastHeightForText = 11;

enum class RowKind : std::uint8_t {
  kGroup,  ///< a group's label with the mean of its ranks
  kLane,   ///< one lane
  kMerged  ///< the compute lanes of a rank
};

struct LaidOutRow {
  RowKind kind = RowKind::kLane;
  std::optional<std::int32_t> group;  ///< position on the axis; absent: pinned, or not grouped
  RankId rank;                        ///< the first of a group
  std::uint32_t lanes_begin = 0;      ///< into RowLayout::lanes
  std::uint32_t lanes_end = 0;
  double y = 0;
  double height = 0;
  bool collapsed = false;
  bool pinned = false;
  friend bool operator==(const LaidOutRow&, const LaidOutRow&) = default;

  [[nodiscard]] double bottom() const { return y + height; }
};

/// Rows from top to bottom, and what each shows.
struct RowLayout {
  std::vector<LaidOutRow> rows;
  std::vector<LaneIndex> lanes;
  std::vector<std::optional<std::uint32_t>> row_of_lane;  ///< by lane of the store
  double height = 0;
  std::string axis;  ///< that groups are positions on; empty: none

  [[nodiscard]] std::span<const LaneIndex> lanes_of(const LaidOutRow& row) const {
    return std::span(lanes).subspan(row.lanes_begin, row.lanes_end - row.lanes_begin);
  }
  /// The row at that height, or the nearest; nothing without rows.
  [[nodiscard]] std::optional<std::size_t> row_at(double y) const;
  /// The row that shows a lane, if need be as one of a group.
  [[nodiscard]] std::optional<std::size_t> row_of(LaneIndex lane) const {
    return row_of_lane[lane];
  }
};

[[nodiscard]] RowLayout lay_out_rows(const ActionStore& store,
                                     const RankAxes& axes,
                                     const RowChoices& choices);

/// "data 3" or "rank 12"; of a lane that does not compute "rank 12 transfers".
[[nodiscard]] std::string label_of(const RowLayout& layout,
                                   const LaidOutRow& row,
                                   const ActionStore& store);

}  // namespace stagewright::gui
