#pragma once

#include <array>
#include <cstdint>
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
  /// One change: what is live from this operation on, until the next change.
  struct Change {
    ProgramPoint at;
    LiveBytes live{};
    friend bool operator==(const Change&, const Change&) = default;
  };
  std::vector<Change> changes;       ///< ascending; a point stands once, at its highest
  std::vector<LiveBytes> by_action;  ///< the moment of each action with the largest total
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
