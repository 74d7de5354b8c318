#pragma once

#include "core/base/result.h"
#include "core/schedule/pipeline_order.h"
#include "core/schedule/token_list.h"

namespace stagewright {

/// An order with its sends and receives as lowering places them, all in the one global order of
/// transfers, but without the rest of a program: a list for checks and for other programs.  The two
/// of an overlapped pair stand one after the other, as in a program.  Fails as order_transfers().
[[nodiscard]] Result<TokenList> lowered_list(const PipelineOrder& order);

}  // namespace stagewright
