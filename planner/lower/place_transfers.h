#pragma once

#include <cstdint>
#include <vector>

#include "core/schedule/action.h"
#include "planner/lower/order_transfers.h"

namespace stagewright {

/// One side of a transfer and where it stands in a rank's list.
struct PlacedTransfer {
  Transfer transfer;
  bool sends = false;     ///< this rank is the sender, else the receiver
  std::int32_t slot = 0;  ///< the compute action before which it stands
};

/// A rank's sends and receives in the global order, ascending by slot: each send right behind what
/// makes its tensor, each receive one compute action ahead of what reads it, or earlier where the
/// order asks, so that the message overlaps with computation.  `transfers` is the global order.
[[nodiscard]] std::vector<PlacedTransfer> place_transfers(std::int32_t rank,
                                                          const std::vector<Transfer>& transfers);

/// The send or receive without its peer.
[[nodiscard]] Action action_of(const PlacedTransfer& placed);

}  // namespace stagewright
