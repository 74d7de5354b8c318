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
  // The same divided; gathers of parameters stand under kParameterGathers
  // (sim/analysis/step_use.h) there.
  std::map<std::string, Duration> inside;  ///< counted as busy
  Duration in_optimizer{};                 ///< counted as busy, within the optimizer step
  /// While the rank was idle; also what went on when it had nothing left to compute.
  std::map<std::string, Duration> outside;
  friend bool operator==(const RankActivity&, const RankActivity&) = default;
};

[[nodiscard]] RankActivity rank_activity(const StepGraph& step,
                                         const StepTimes& times,
                                         const ClassWork& work);

}  // namespace stagewright
