#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "sim/analysis/step_work.h"

namespace stagewright {

/// Why a rank is idle.
enum class BubbleCause : std::uint8_t {
  kWarmUp,      ///< the pipeline fills: before the rank's first backward
  kCoolDown,    ///< it drains: after its last forward
  kOrder,       ///< between, although all stages take the same: the schedule's own order
  kImbalance,   ///< ranks and stages take unlike times
  kTransfer,    ///< messages between stages
  kCollective,  ///< reductions and gathers
  kOptimizer,   ///< the optimizer step of others, and its norm
  kPeer,        ///< a rank that was late, or slower than it mostly is
};
inline constexpr int kBubbleCauseCount = static_cast<int>(BubbleCause::kPeer) + 1;
[[nodiscard]] std::string_view name_of(BubbleCause cause);

struct RankBubble {
  RankId rank;                                         ///< the first of those alike
  std::int32_t alike = 1;                              ///< how many
  Duration idle{};                                     ///< the step less the rank's busy time
  std::array<Duration, kBubbleCauseCount> by_cause{};  ///< none negative; their sum is `idle`
  friend bool operator==(const RankBubble&, const RankBubble&) = default;
};

struct BubbleCauses {
  Duration step_time{};
  std::vector<RankBubble> ranks;
  friend bool operator==(const BubbleCauses&, const BubbleCauses&) = default;

  /// Of the time of all ranks together: idle time for this cause.
  [[nodiscard]] double share(BubbleCause cause) const;
  /// For all causes: the bubble.
  [[nodiscard]] double share() const;
};

/// Divides the idle time of every rank by what would make it vanish.  The step is timed again and
/// again, each time with one more of the things that cost time, and what a rank idles more than the
/// time before goes to what was added:
///   1. every rank does the same work: an action takes the mean of its kind over all stages, scaled
///      so that all ranks compute equally long.  What is idle then is filling, draining and order;
///   2. the stages' own times, each its mean over the micro-batches: imbalance;
///   3. messages: transfer;
///   4. reductions and gathers: collective;
///   5. the optimizer step: optimizer;
///   6. every action's own time, and ranks that began or went on later than they had to: peer.
/// A rank never gets more for the first so many than it idles in the end: of a rank that a later
/// addition makes less idle, the earlier causes are cut from the latest on.
[[nodiscard]] BubbleCauses bubble_causes(const StepWork& work);

}  // namespace stagewright
