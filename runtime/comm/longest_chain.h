#pragma once

namespace stagewright {

/// Operations that a report of a hang follows from one to the next it waits for.  A loop is
/// impossible (an operation waits for earlier ones only), a longer chain unreadable.
inline constexpr int kLongestChain = 8;

}  // namespace stagewright
