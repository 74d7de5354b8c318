#pragma once

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/schedule/pipeline_order.h"
#include "sim/engine/event_graph.h"
#include "sim/engine/pipeline_graph.h"

namespace stagewright {

/// What the messages of a bare order share.
enum class OrderLinks : std::uint8_t {
  kFree,   ///< nothing, as the static pass has it
  kPorts,  ///< each rank sends all through one port and receives all through another, either of
           ///< which one message alone fills
};

struct OrderEventOptions {
  OrderLinks links = OrderLinks::kFree;
  /// By rank, where several compute on one device: ascending from 0.  Empty: each has its own.
  std::vector<std::int32_t> device_of_rank{};
};

/// A pipeline order for the event engine.  Its actions are the first nodes, rank by rank in list
/// order; messages follow.
/// Fails as compile(order).  REQUIRES: a cost for every stage and kind of action in the order.
[[nodiscard]] Result<EventGraph> order_events(const PipelineOrder& order,
                                              const PipelineCosts& costs,
                                              const OrderEventOptions& options = {});

}  // namespace stagewright
