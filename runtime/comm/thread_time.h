#pragma once

#include <ctime>

#include "core/base/units.h"

namespace stagewright {

/// Processor time that the calling thread has used since it began: what it takes of a core,
/// however many threads share it.
[[nodiscard]] inline Duration thread_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace stagewright
