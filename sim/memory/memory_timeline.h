#pragma once

#include <vector>

#include "core/base/units.h"
#include "core/cluster/device.h"
#include "core/schedule/lifetimes.h"
#include "core/schedule/rank_program.h"
#include "sim/memory/live_bytes.h"

namespace stagewright {

/// Memory of a rank program over its issue order.
struct MemoryTimeline {
  std::vector<LiveBytes> by_action;  ///< at the moment of each action with the largest total
  MemoryPeaks peaks;                 ///< equal to memory_peaks(program, lifetimes(program))
  friend bool operator==(const MemoryTimeline&, const MemoryTimeline&) = default;
};

/// By the rules of core/schedule/lifetimes.h, as the executor allocates.  Micro-batches that go
/// through the same actions are looked at once, so that a thousand cost little more than one.
[[nodiscard]] MemoryTimeline memory_timeline(const RankProgram& program);

/// The same from every single lifetime: the slow way, which knows of no patterns.
[[nodiscard]] MemoryTimeline memory_timeline_of_lifetimes(const RankProgram& program);

/// What a device holds at the peak: the rank's tensors and what driver, libraries and
/// communicators take (DeviceType::context).
[[nodiscard]] Bytes device_memory(const MemoryPeaks& peaks, const DeviceType& device);
[[nodiscard]] bool fits(const MemoryPeaks& peaks, const DeviceType& device);

}  // namespace stagewright
