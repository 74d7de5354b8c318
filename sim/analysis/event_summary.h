#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "sim/engine/event_engine.h"
#include "sim/engine/event_graph.h"

namespace stagewright {

/// What a step did to a link that may fill up.
struct LinkLoad {
  std::string name;
  double used = 0;  ///< share of what it could have passed during the step
  /// Time that flows lost because the link was full, at full speed, summed over flows.
  Duration lost{};
  friend bool operator==(const LinkLoad&, const LinkLoad&) = default;
};

/// A step of the event engine at a glance.
struct EventSummary {
  Duration step_time{};
  double bubble = 0;            ///< mean over ranks
  std::vector<Duration> busy;   ///< by rank: time in which it computes
  std::vector<LinkLoad> links;  ///< in use, those that cost most first
  friend bool operator==(const EventSummary&, const EventSummary&) = default;
};

/// `alone`: the times alone that the step ran with.  `stands_for`, by rank: the one that was
/// simulated for it (ScheduleEvents::stands_for); empty: every rank itself.
[[nodiscard]] EventSummary summarize_events(const EventGraph& graph,
                                            const std::vector<Duration>& alone,
                                            const EventTimes& times,
                                            std::span<const RankId> stands_for = {});

}  // namespace stagewright
