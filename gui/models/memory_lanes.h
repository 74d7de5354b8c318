#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/units.h"
#include "core/trace/trace.h"
#include "sim/memory/live_bytes.h"

namespace stagewright::gui {

/// Memory of one rank over a step: from `at[i]` on, `live[i]` is alive.
struct MemoryLane {
  RankId rank;
  std::vector<std::int64_t> at;  ///< picoseconds, ascending
  std::vector<LiveBytes> live;
  std::optional<Bytes> limit;  ///< what the device has for tensors
  Bytes peak{};
  std::size_t peak_at = 0;  ///< into `at`
  friend bool operator==(const MemoryLane&, const MemoryLane&) = default;

  /// Largest by class in a stretch of time, its beginning included; the sample whose total is
  /// largest.
  [[nodiscard]] LiveBytes most_in(std::int64_t from, std::int64_t to) const;
};

/// One for every rank that has samples in that step, by rank.  `limits`: by rank, as far as known.
[[nodiscard]] std::vector<MemoryLane> memory_lanes(const Trace& trace,
                                                   std::int32_t step,
                                                   const std::vector<Bytes>& limits);

}  // namespace stagewright::gui
