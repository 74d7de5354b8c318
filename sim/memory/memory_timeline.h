#pragma once

#include <array>
#include <vector>

#include "core/base/units.h"
#include "core/cluster/device.h"
#include "core/schedule/lifetimes.h"
#include "core/schedule/rank_program.h"

namespace stagewright {

/// Live bytes by class.
using LiveBytes = std::array<Bytes, kTensorClassCount>;
[[nodiscard]] Bytes total_of(const LiveBytes& live);

/// Memory of a rank program over its issue order.
struct MemoryTimeline {
  std::vector<LiveBytes> by_action;  ///< at the moment of each action with the largest total
  MemoryPeaks peaks;                 ///< equal to memory_peaks(program, lifetimes(program))
  friend bool operator==(const MemoryTimeline&, const MemoryTimeline&) = default;
};

/// From the lifetimes of core, as the executor allocates them.
[[nodiscard]] MemoryTimeline memory_timeline(const RankProgram& program);

/// What a device holds at the peak: the rank's tensors and what driver, libraries and
/// communicators take (DeviceType::context).
[[nodiscard]] Bytes device_memory(const MemoryPeaks& peaks, const DeviceType& device);
[[nodiscard]] bool fits(const MemoryPeaks& peaks, const DeviceType& device);

}  // namespace stagewright
