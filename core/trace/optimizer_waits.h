#pragma once

/// Where optimizer steps wait inside.  A rank that comes to the norm of the gradients, or to a
/// gather of parameters, before others is idle until the last of them is there, and so is one whose
/// reductions are still under way.  Everything that divides a rank's time into busy and idle asks
/// here.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/schedule/action.h"
#include "core/trace/trace.h"

namespace stagewright {

/// A place inside an optimizer step where nothing of it runs, or where a collective begins.
struct OptimizerWait {
  RankId rank;
  std::int32_t step = 0;
  std::int32_t action_index = 0;
  TimePoint from;            ///< what ran before is done
  TimePoint to;              ///< it goes on; not before `from`
  bool for_members = false;  ///< with a collective, whose last member had come then
  friend bool operator==(const OptimizerWait&, const OptimizerWait&) = default;
};

/// A stretch in which an action works, or takes part in a collective that runs.
struct WorkedStretch {
  TimePoint start;
  TimePoint end;
  friend bool operator==(const WorkedStretch&, const WorkedStretch&) = default;
};

/// The optimizer step, and the update of one stage that stands for it in asynchronous schedules.
[[nodiscard]] bool is_optimizer(ActionKind kind);

/// What passes between two operations of a measured step, when neither waits for anything.
inline constexpr Duration kOperationStart = std::chrono::microseconds(20);

/// The waits of a trace, as far as it holds the operations around them: a predicted trace those
/// that begin late, with the begin of their wait as `ready`, a measured one all of them.  Waits of
/// measured steps that are shorter than kOperationStart count as none.
class OptimizerWaits {
 public:
  explicit OptimizerWaits(const Trace& trace);

  /// Those inside an action, by time.
  [[nodiscard]] std::span<const OptimizerWait> of(const TraceEvent& action) const;
  /// An action without the waits inside it, in order; itself where there are none.
  [[nodiscard]] std::vector<WorkedStretch> worked(const TraceEvent& action) const;
  /// Sum of worked().
  [[nodiscard]] Duration worked_time(const TraceEvent& action) const;

 private:
  void add_action(std::span<const TraceEvent* const> ops, bool measured);

  std::vector<OptimizerWait> waits_;  ///< by rank, step, action, time
};

}  // namespace stagewright
