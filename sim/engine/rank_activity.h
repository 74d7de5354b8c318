#pragma once

#include <map>
#include <string>

#include "core/base/units.h"
#include "sim/engine/step_graph.h"

namespace stagewright {

/// What the compute stream of a rank does during a step.
struct RankActivity {
  Duration busy{};  ///< computing, or waiting for a running collective of the same action
  /// Waits for communication that ran meanwhile, by kind of group; "pipeline" for messages between
  /// stages.  A wait for another rank that is not ready counts nowhere.
  std::map<std::string, Duration> exposed;
  friend bool operator==(const RankActivity&, const RankActivity&) = default;
};

[[nodiscard]] RankActivity rank_activity(const StepGraph& step,
                                         const StepTimes& times,
                                         const ClassWork& work);

}  // namespace stagewright
