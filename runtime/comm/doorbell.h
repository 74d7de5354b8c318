#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "core/base/units.h"

namespace stagewright {

/// Wakes threads when something may have changed.  A waiter reads epoch(), looks at what it
/// waits for, and then spins or sleeps on that epoch: a ring() in between is never lost,
/// because it moves the epoch on.  Ringing costs no system call unless somebody sleeps.
class Doorbell {
 public:
  using Host = std::chrono::steady_clock;

  [[nodiscard]] std::uint32_t epoch() const { return epoch_.load(); }
  void ring();

  /// Busy-waits up to `budget`; whether the epoch has moved on from `seen`.
  [[nodiscard]] bool spin(std::uint32_t seen, Duration budget) const;
  /// Sleeps until the epoch has moved on from `seen` or `deadline` has passed.
  void sleep_until(std::uint32_t seen, Host::time_point deadline);
  /// Sleeps until the epoch has moved on from `seen`.
  void sleep(std::uint32_t seen);

 private:
  // All accesses are sequentially consistent: ring() writes epoch_ then reads sleepers_,
  // a sleeper writes sleepers_ then reads epoch_, so at least one sees the other.
  std::atomic<std::uint32_t> epoch_{0};
  std::atomic<int> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace stagewright
