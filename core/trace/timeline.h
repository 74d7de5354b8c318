#pragma once

/// A step of a trace as rows of boxes in time: the layout that drawings share, as text, as SVG and
/// on a screen.  Nothing here knows pixels or characters.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/schedule/action.h"
#include "core/trace/trace.h"

namespace stagewright {

/// What a rank did over a stretch of time.
struct TimelineBox {
  TimePoint start;
  TimePoint end;
  Action action;
  std::optional<Action> paired;  ///< that ran together with it, as an overlapped F and B
  std::int32_t chunk = 0;        ///< place of the stage among those of its rank, from 0
  friend bool operator==(const TimelineBox&, const TimelineBox&) = default;
};

struct TimelineRow {
  RankId rank;
  std::vector<TimelineBox> boxes;     ///< computing and the optimizer, ascending and disjoint
  std::vector<TimelineBox> messages;  ///< transfers and collectives, by start; they may overlap
  Duration busy{};                    ///< sum over the boxes
  friend bool operator==(const TimelineRow&, const TimelineRow&) = default;
};

struct Timeline {
  std::vector<TimelineRow> rows;  ///< by rank; those that have an event
  Duration length{};              ///< from zero to the last end
  std::int32_t chunks = 1;        ///< most stages of one rank
  friend bool operator==(const Timeline&, const Timeline&) = default;
};

/// The actions of one step.  Two actions of a rank over exactly the same time make one box; an
/// optimizer step that waits inside (core/trace/optimizer_waits.h) makes several.
[[nodiscard]] Timeline make_timeline(const Trace& trace, std::int32_t step = 0);

/// Neighbouring boxes seen as one because they are too short to be drawn apart.
struct TimelineSpan {
  TimePoint start;
  TimePoint end;
  std::size_t first = 0;  ///< box
  std::size_t count = 1;
  Duration busy{};                         ///< sum over its boxes
  ActionKind most = ActionKind::kForward;  ///< the kind that takes most of that time
  friend bool operator==(const TimelineSpan&, const TimelineSpan&) = default;
};

/// The boxes in order, those shorter than `least` together with short neighbours until they are
/// that long or a gap as long ends them.  Every box is in exactly one span.
[[nodiscard]] std::vector<TimelineSpan> join_short(const std::vector<TimelineBox>& boxes,
                                                   Duration least);

/// What a number on the time axis counts.
struct TimeUnit {
  double seconds = 1;
  std::string name;  ///< "ms"; empty: the unit of the costs that the user gave
  friend bool operator==(const TimeUnit&, const TimeUnit&) = default;
};
/// s, ms, us or ns, as people would write `length`.
[[nodiscard]] TimeUnit usual_unit(Duration length);

/// Marks of the time axis at 0, 1, 2 or 5 times a power of ten, at most `most` (1 or more) besides
/// that at zero, as numbers of the unit.
[[nodiscard]] std::vector<double> axis_marks(Duration length, const TimeUnit& unit, int most);

}  // namespace stagewright
