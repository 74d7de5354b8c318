#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/result.h"

namespace stagewright {

enum class RateDecay : std::uint8_t {
  kConstant,
  kLinear,
  kCosine,  ///< half a period (Loshchilov and Hutter 2017, equation 5, without restarts)
};
[[nodiscard]] std::string_view name_of(RateDecay decay);  ///< "constant", "linear", "cosine"
[[nodiscard]] std::optional<RateDecay> rate_decay_named(std::string_view name);

/// How the learning rate of a plan's optimizer changes with the step.
struct RateSchedule {
  RateDecay decay = RateDecay::kConstant;
  std::int32_t warmup_steps = 0;  ///< it rises linearly and is whole in the last of these
  std::int32_t decay_steps = 0;   ///< behind those; it has fallen to `minimum` in the last of them
  double minimum = 0;             ///< as a part of the whole rate; it stays there
  friend bool operator==(const RateSchedule&, const RateSchedule&) = default;
};

/// kInvalidInput, naming the field, for negative numbers of steps, a minimum outside 0 .. 1, and a
/// decay without steps.
[[nodiscard]] Result<void> check(const RateSchedule& schedule);

/// The part of the whole rate that counts in a step, from 1.  Steps that were skipped count.
/// REQUIRES: check() passed.
[[nodiscard]] double rate_factor(const RateSchedule& schedule, std::int64_t step);

}  // namespace stagewright
