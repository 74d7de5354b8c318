#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "sim/analysis/bubble_causes.h"

namespace stagewright {

/// How much of what costs time is counted when a step is timed for its causes, ascending.
enum class Extent : std::uint8_t {
  kEqual,  ///< stages that all take the same
  kStages,
  kTransfers,
  kCollectives,
  kOptimizer,
  kAll,
};
inline constexpr std::size_t kExtents = static_cast<std::size_t>(Extent::kAll) + 1;

/// Where the idle time of a rank lies when all stages take the same.
struct IdlePhases {
  Duration warm_up{};
  Duration cool_down{};
  Duration order{};
};

/// Divides the gaps between the work of one rank.
class IdlePhaseCounter {
 public:
  /// `filled`: its first backward begins, or its first work if it has none; `last_forward`: the
  /// last forward ends, or its last work if it has none.
  IdlePhaseCounter(std::optional<Duration> filled, std::optional<Duration> last_forward)
      : filled_(filled), last_forward_(last_forward) {}

  /// Work in the order of its begin.
  void add_work(Duration begin, Duration end);
  [[nodiscard]] IdlePhases finish(Duration makespan);

 private:
  void add_gap(Duration until);

  std::optional<Duration> filled_;
  std::optional<Duration> last_forward_;
  Duration free_{};
  IdlePhases sums_;
};

/// A rank's idle time under each extent, the last as the summary of the step counts it.
struct RankIdle {
  RankId rank;
  std::int32_t alike = 1;
  std::array<Duration, kExtents> idle{};
  IdlePhases equal;  ///< of the first
};
/// What each extent adds is for its cause; see bubble_causes().
[[nodiscard]] RankBubble divide_idle(RankIdle rank);

}  // namespace stagewright
