#pragma once

#include "core/schedule/pipeline_order.h"
#include "core/schedule/token_list.h"

namespace stagewright {

/// The order of a list's computation, overlapped pairs included; its own transfers and markers are
/// left out.  The inverse of token_list(order).
[[nodiscard]] PipelineOrder order_of(const TokenList& list);

}  // namespace stagewright
