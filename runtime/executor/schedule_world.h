#pragma once

#include <string>

#include "core/schedule/schedule.h"
#include "runtime/comm/world.h"
#include "runtime/executor/host_values.h"

namespace stagewright {

/// What the ranks of a schedule communicate over: its groups in its order, and a link for every
/// direction in which messages of one kind flow.
[[nodiscard]] WorldSpec world_of(const Schedule& schedule);

/// Channel of activations (0) and of gradients (1) between two ranks.
[[nodiscard]] ChannelId channel_of(ActionKind transfer);

/// Compares the hash of every rank's schedule; returns on all ranks or on none.  Throws
/// BackendError naming the ranks that have another schedule than rank 0.
void require_same_schedule(HostValues& values, const std::string& hash);

}  // namespace stagewright
