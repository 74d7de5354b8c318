#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/schedule/lifetimes.h"
#include "core/trace/trace.h"

namespace stagewright {

/// The steps that figures are taken from: those after the first, which pays for warming up, or the
/// first where there is no other.
[[nodiscard]] bool counts(const Trace& trace, std::int32_t step);
[[nodiscard]] std::vector<Duration> counted_step_times(const Trace& trace);

/// Figures of one rank of a trace: medians over the steps that count.
struct RankFigures {
  Duration busy{};       ///< compute actions and the optimizer step, without the waits inside it
  Duration computing{};  ///< operations on its compute stream; zero without operation events
  Duration end{};        ///< of its last event, from the start of the step
  /// Communication while no operation ran on its compute stream, by stream; "pipeline" for messages
  /// that it received.  Empty without operation events.
  std::map<std::string, Duration> exposed;
  MemoryPeaks memory;  ///< over its samples of the steps that count
  friend bool operator==(const RankFigures&, const RankFigures&) = default;
};

/// Of every rank that has an event.
[[nodiscard]] std::map<RankId, RankFigures> rank_figures(const Trace& trace);

}  // namespace stagewright
