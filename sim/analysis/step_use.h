#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "core/cluster/cluster.h"
#include "core/schedule/schedule.h"
#include "sim/analysis/bubble_causes.h"
#include "sim/cost/cost_model.h"

namespace stagewright {

/// Label of gathers of parameters among the kinds of communication.
inline constexpr const char* kParameterGathers = "parameter gathers";

/// What a rank's step was spent on, in seconds.  Everything adds up to the step.
struct TimeUse {
  std::map<LayerId, double> compute;   ///< forward and backward, by layer
  std::map<LayerId, double> repeated;  ///< forward again, for the backward
  double optimizer = 0;                ///< its step, with the collectives inside
  double other = 0;                    ///< computation that belongs to no layer
  /// Communication that nothing hides, by kind of group; kPipelineTransfers for messages between
  /// stages, kParameterGathers for gathers of parameters.
  std::map<std::string, double> exposed;
  /// Idle, by cause, but for transfers and collectives, which stand under `exposed`.
  std::array<double, kBubbleCauseCount> bubble{};
  friend bool operator==(const TimeUse&, const TimeUse&) = default;

  /// Of computation, repeated or not, without the optimizer's.
  [[nodiscard]] double computing() const;
  [[nodiscard]] double total() const;
};

struct RankTimeUse {
  RankId rank;             ///< the first of those alike
  std::int32_t alike = 1;  ///< how many
  TimeUse use;
  friend bool operator==(const RankTimeUse&, const RankTimeUse&) = default;
};

struct StepUse {
  TimeUse mean;  ///< over all ranks
  std::vector<RankTimeUse> ranks;
  friend bool operator==(const StepUse&, const StepUse&) = default;
};

/// Times a step as simulate() does and divides every rank's into what it was spent on.  Idle time
/// that bubble_causes() counts for collectives goes to the kinds that the rank waited for, in
/// proportion; to "collective" where it waited for none itself.  REQUIRES and fails as simulate().
[[nodiscard]] Result<StepUse> step_use(const Schedule& schedule,
                                       const Cluster& cluster,
                                       const CostModel& cost);

}  // namespace stagewright
