#pragma once

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "gui/models/action_store.h"
#include "gui/models/selection.h"

namespace stagewright::gui {

/// Actions of one kind within a stretch of time.
struct KindStatistics {
  ActionKind kind = ActionKind::kForward;
  std::int64_t count = 0;
  Duration total{};  ///< of what lies within
  Duration mean{};   ///< of whole actions
  Duration least{};
  Duration most{};
  friend bool operator==(const KindStatistics&, const KindStatistics&) = default;
};

struct SelectionStatistics {
  Duration length{};
  std::size_t compute_lanes = 0;
  Duration busy{};                    ///< of compute lanes, summed
  double idle_share = 0;              ///< of their time
  std::vector<KindStatistics> kinds;  ///< largest total first
  friend bool operator==(const SelectionStatistics&, const SelectionStatistics&) = default;
};

/// What goes on in a stretch of time on some lanes; of steps that are compared, in the first.
[[nodiscard]] SelectionStatistics statistics_of(const ActionStore& store,
                                                const RangeSelection& range);
/// All lanes, the whole step.
[[nodiscard]] RangeSelection everything(const ActionStore& store);

}  // namespace stagewright::gui
