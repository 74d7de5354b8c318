#include "planner/lower/place_transfers.h"

#include <algorithm>
#include <cstddef>

namespace stagewright {

std::vector<PlacedTransfer> place_transfers(std::int32_t rank,
                                            const std::vector<Transfer>& transfers) {
  // Sends have one slot.  A receive may stand anywhere from the slots of the transfers before it to
  // those of the transfers behind it.
  std::vector<PlacedTransfer> placed;
  for (const Transfer& transfer : transfers) {
    if (transfer.sender == rank) {
      placed.push_back({transfer, true, transfer.producer + 1});
    } else if (transfer.receiver == rank) {
      placed.push_back({transfer, false, std::max(transfer.consumer - 1, 0)});
    }
  }
  std::int32_t latest = placed.empty() ? 0 : placed.back().slot;
  for (std::size_t i = placed.size(); i-- > 0;) {
    if (!placed[i].sends) {
      placed[i].slot = std::min(latest, placed[i].slot);
    }
    latest = placed[i].slot;
  }
  std::int32_t earliest = 0;
  for (PlacedTransfer& transfer : placed) {
    transfer.slot = earliest = std::max(earliest, transfer.slot);
  }
  return placed;
}

Action action_of(const PlacedTransfer& placed) {
  Action action;
  action.stage = placed.sends ? placed.transfer.from : placed.transfer.to;
  action.micro_batch = placed.transfer.micro_batch;
  if (placed.transfer.gradient) {
    action.kind = placed.sends ? ActionKind::kSendGradient : ActionKind::kRecvGradient;
  } else {
    action.kind = placed.sends ? ActionKind::kSendActivation : ActionKind::kRecvActivation;
  }
  return action;
}

}  // namespace stagewright
