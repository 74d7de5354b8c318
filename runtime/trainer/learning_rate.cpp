#include "runtime/trainer/learning_rate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"

namespace stagewright {

namespace {

constexpr std::array<std::string_view, 3> kNames = {"constant", "linear", "cosine"};

[[nodiscard]] double decayed(RateDecay decay, double progress, double minimum) {
  switch (decay) {
    case RateDecay::kConstant:
      return 1;
    case RateDecay::kLinear:
      return 1 - (1 - minimum) * progress;
    case RateDecay::kCosine:
      return minimum + (1 - minimum) * 0.5 * (1 + std::cos(std::numbers::pi * progress));
  }
  SW_CHECK(false, "a known decay");
}

}  // namespace

std::string_view name_of(RateDecay decay) {
  return kNames[static_cast<std::size_t>(decay)];
}

std::optional<RateDecay> rate_decay_named(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  return found == kNames.end() ? std::nullopt
                               : std::optional(static_cast<RateDecay>(found - kNames.begin()));
}

Result<void> check(const RateSchedule& schedule) {
  for (const auto& [field, steps] : {std::pair("warmup_steps", schedule.warmup_steps),
                                     std::pair("decay_steps", schedule.decay_steps)}) {
    if (steps < 0) {
      return fail(ErrorCode::kInvalidInput, fmt::format("is {}; use 0 or more", steps), field);
    }
  }
  if (!(schedule.minimum >= 0 && schedule.minimum <= 1)) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("is {}; it is a part of the learning rate, 0 to 1", schedule.minimum),
                "minimum");
  }
  if (schedule.decay != RateDecay::kConstant && schedule.decay_steps == 0) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("is 0, but the learning rate falls ({}); say in how many steps",
                            name_of(schedule.decay)),
                "decay_steps");
  }
  return {};
}

double rate_factor(const RateSchedule& schedule, std::int64_t step) {
  if (step < schedule.warmup_steps) {
    return static_cast<double>(step) / schedule.warmup_steps;
  }
  if (schedule.decay == RateDecay::kConstant) {
    return 1;
  }
  const auto behind = static_cast<double>(step - schedule.warmup_steps);
  return decayed(schedule.decay, std::min(behind / schedule.decay_steps, 1.0), schedule.minimum);
}

}  // namespace stagewright
