#pragma once

#include "core/base/result.h"
#include "core/base/units.h"
#include "runtime/comm/launch_environment.h"

namespace stagewright {

/// Tells the other processes of a run that this one cannot begin, and why, so that none waits for
/// it in vain: rank 0 by listening for them, the others by a word to rank 0.  Returns when they
/// know, or after `limit`.
void tell_failed_start(const LaunchEnvironment& launch, const Error& error, Duration limit);

}  // namespace stagewright
