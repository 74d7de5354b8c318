#pragma once

#include "core/schedule/schedule.h"
#include "core/schedule/token_list.h"

namespace stagewright::gui {

/// What the ranks of one pipeline compute, as a list without transfers: rank 0 and everyone that it
/// exchanges messages with, directly or through others.  Ranks are numbered anew, in order.
[[nodiscard]] TokenList compute_order(const Schedule& schedule);

}  // namespace stagewright::gui
