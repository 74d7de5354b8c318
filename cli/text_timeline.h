#pragma once

#include <string>

#include "core/trace/timeline.h"

namespace stagewright {

struct TextTimelineOptions {
  int columns = 100;     ///< of a line, 40 or more
  bool colour = false;   ///< boxes as backgrounds of the 256 colours of terminals
  bool unicode = false;  ///< lines and dots outside of ASCII
  int most_rows = 64;    ///< of more ranks, as many are shown, evenly spaced
};

/// A timeline as lines of text: a row for each rank, time from left to right, in each box its kind
/// (F, B, I, W, R; lower case on every second stage of a rank) and micro-batch where they fit, idle
/// time as dots, a ruler above and a legend below.  Where all times are multiples of one that fits,
/// a column stands for that time or a fraction, so that equal times look equal; else a column shows
/// what takes most of it.
[[nodiscard]] std::string to_text(const Timeline& timeline,
                                  const TimeUnit& unit,
                                  const TextTimelineOptions& options);

}  // namespace stagewright
