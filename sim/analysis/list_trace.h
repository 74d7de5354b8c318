#pragma once

#include "core/schedule/token_list.h"
#include "core/trace/trace.h"
#include "sim/analysis/list_timing.h"

namespace stagewright {

/// The times of a list as a predicted trace of one step: for every action that computes an event on
/// the stream "compute" (an overlapped pair: two over the same time), and for every message that
/// takes time one of its receive on the stream "transfers", at the rank that receives it.  Places
/// in the rank's list are those of the token list; names and hashes are left empty.
/// REQUIRES: `timing` is that of this list under these costs, without a fault.
[[nodiscard]] Trace list_trace(const TokenList& list,
                               const PipelineCosts& costs,
                               const ListTiming& timing);

}  // namespace stagewright
