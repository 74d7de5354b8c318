#pragma once

#include <atomic>

namespace stagewright {

/// While one exists, Ctrl-C (SIGINT) and SIGTERM set `requested()` instead of ending the
/// process; a second signal ends it at once.  At most one at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// The flag that long work polls.
  [[nodiscard]] static const std::atomic<bool>& requested();
};

}  // namespace stagewright
