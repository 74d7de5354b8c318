#pragma once

#include "planner/schedules/generator.h"

namespace stagewright {

/// All forwards, then all backwards (Huang et al. 2019): makespan (M + P - 1)(F + B), all M
/// micro-batches in memory.  Any number of micro-batches; one stage per rank.  With the parameter
/// `reverse` = 1 the last micro-batch goes backward first, as torchgpipe does.
[[nodiscard]] ScheduleGenerator gpipe_schedule();

}  // namespace stagewright
