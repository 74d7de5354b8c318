#pragma once

#include <string>

#include "core/trace/trace.h"

namespace stagewright {

/// Hash of everything in a trace that is a number: times, events, memory, losses.  Names are left
/// out, since JSON cannot keep those that are not UTF-8.  The text form states it, so that a change
/// by hand is found when the file is read.
[[nodiscard]] std::string figures_hash(const Trace& trace);

}  // namespace stagewright
