#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/units.h"

namespace stagewright {

/// What the best plan is best at.
enum class Aim : std::uint8_t {
  kStepTime,
  kTokens,      ///< per second; with a given batch the order of the step time
  kDevices,     ///< fewest that fit, then the fastest
  kCost,        ///< of a token
  kEnergy,      ///< of a token
  kHeadroom,    ///< memory left on the fullest device, then the fastest
  kRobustness,  ///< 95th percentile of the step time under jitter
};
[[nodiscard]] std::string_view name_of(Aim aim);  ///< "step-time", "cost", ...
/// kInvalidInput with a suggestion.
[[nodiscard]] Result<Aim> parse_aim(std::string_view name);

struct Objective {
  Aim aim = Aim::kStepTime;
  std::optional<double> device_hour;   ///< price of a device for an hour; needed for kCost
  std::optional<double> device_watts;  ///< drawn by a device in use; needed for kEnergy
  /// Of kRobustness: standard deviation of every computation's time as a share of it.
  double jitter = 0.05;
  std::int32_t samples = 64;  ///< of kRobustness
};

/// What a plan is judged by: exact figures, or bounds of them.
struct PlanFigures {
  Duration step_time{};
  Bytes memory{};
  std::int64_t devices = 1;
  double tokens = 1;  ///< of a step
};

/// Less is better; never grows where a figure shrinks, so that bounds of the figures bound it.
/// kRobustness is judged by the step time here.
[[nodiscard]] double value_of(const Objective& objective, const PlanFigures& figures);

/// "$0.41 per million tokens", "3.1 s": the value for people.
[[nodiscard]] std::string describe(const Objective& objective, double value);

/// What a plan costs and draws; absent where no price or power is known.
[[nodiscard]] std::optional<double> cost_per_million_tokens(const Objective& objective,
                                                            const PlanFigures& figures);
[[nodiscard]] std::optional<double> kilojoules_per_million_tokens(const Objective& objective,
                                                                  const PlanFigures& figures);

}  // namespace stagewright
