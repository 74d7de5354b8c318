#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/executor/rank_plan.h"

namespace stagewright {

/// Tells NVIDIA's profilers (Nsight Systems, through NVTX) which action of the rank's list the
/// calling thread runs or gives to its device: ranges that bear the names that schedules use
/// ("2F0", "STEP"), on a thread named after the rank.  Where no profiler looks on a range costs a
/// few instructions; in a build without NVTX's headers nothing.
///
/// Used by one thread.
class ActionRanges {
 public:
  explicit ActionRanges(const RankPlan& plan);
  ~ActionRanges() { leave(); }
  ActionRanges(const ActionRanges&) = delete;
  ActionRanges& operator=(const ActionRanges&) = delete;
  ActionRanges(ActionRanges&&) = delete;
  ActionRanges& operator=(ActionRanges&&) = delete;

  /// Ends the range before, unless it is of the same action.
  void enter(std::int32_t action);
  void leave();

 private:
  std::string thread_;                ///< empty once the thread bears it
  std::vector<std::string> actions_;  ///< names, by action
  std::optional<std::int32_t> entered_;
};

}  // namespace stagewright
