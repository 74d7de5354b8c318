#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/units.h"
#include "core/trace/trace.h"
#include "sim/memory/live_bytes.h"

namespace stagewright::gui {

/// Memory of the device that a rank has.
struct RankMemory {
  Bytes whole{};
  Bytes context{};  ///< of it, what driver and libraries take
  friend bool operator==(const RankMemory&, const RankMemory&) = default;
};

/// Memory of one rank over a step: from `at[i]` on, `live[i]` is alive beside `context`.
struct MemoryLane {
  RankId rank;
  std::vector<std::int64_t> at;  ///< picoseconds, ascending
  std::vector<LiveBytes> live;
  Bytes context{};             ///< all the time; zero where it is not known, as in traces
  std::optional<Bytes> limit;  ///< the device's memory
  Bytes peak{};                ///< of all that is held, the context with it
  std::size_t peak_at = 0;     ///< into `at`
  LiveBytes most{};            ///< each class by itself
  friend bool operator==(const MemoryLane&, const MemoryLane&) = default;

  /// Largest by class in a stretch of time, its beginning included; the sample whose total is
  /// largest.
  [[nodiscard]] LiveBytes most_in(std::int64_t from, std::int64_t to) const;
};

/// One for every rank that has samples in that step, by rank.  `devices`: by rank, as far as known.
[[nodiscard]] std::vector<MemoryLane> memory_lanes(const Trace& trace,
                                                   std::int32_t step,
                                                   const std::vector<RankMemory>& devices);

}  // namespace stagewright::gui
