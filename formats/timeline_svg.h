#pragma once

#include <string>
#include <string_view>

#include "core/trace/timeline.h"

namespace stagewright {

/// A timeline as a picture (SVG 1.1) that needs nothing else: a row for each rank with its share of
/// idle time, boxes in the colours of action_colours.h with micro-batch numbers and tooltips, idle
/// time hatched, transfers as thin bars below, an axis in `unit` and a legend.  It is wide enough
/// for numbers in the boxes up to a limit; what is then too short to be drawn apart is drawn as one
/// box with its share of work as height.  `title` stands on top, `subtitle` (which may be empty)
/// below it.
[[nodiscard]] std::string write_timeline_svg(const Timeline& timeline,
                                             const TimeUnit& unit,
                                             std::string_view title,
                                             std::string_view subtitle);

}  // namespace stagewright
