#include "planner/search/objective.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/suggest.h"

namespace stagewright {
namespace {

constexpr std::array<std::string_view, 7> kNames{
    "step-time", "tokens", "devices", "cost", "energy", "headroom", "robustness"};
constexpr double kMillion = 1e6;
/// Larger than any step time in seconds, so that devices or bytes decide first.
constexpr double kFirst = 1e9;

double device_seconds(const PlanFigures& figures) {
  return static_cast<double>(figures.devices) * to_seconds(figures.step_time) / figures.tokens;
}

}  // namespace

std::string_view name_of(Aim aim) {
  return kNames[static_cast<std::size_t>(aim)];
}

Result<Aim> parse_aim(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name);
  if (found == kNames.end()) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("'{}' is no objective{}", name, suggestion(name, kNames)),
                "--objective");
  }
  return static_cast<Aim>(found - kNames.begin());
}

double value_of(const Objective& objective, const PlanFigures& figures) {
  const double seconds = to_seconds(figures.step_time);
  switch (objective.aim) {
    case Aim::kStepTime:
    case Aim::kTokens:
    case Aim::kRobustness:
      return seconds;
    case Aim::kDevices:
      return kFirst * static_cast<double>(figures.devices) + seconds;
    case Aim::kCost:
      return device_seconds(figures) * kMillion * objective.device_hour.value_or(1) / 3600;
    case Aim::kEnergy:
      return device_seconds(figures) * kMillion * objective.device_watts.value_or(1) / 1000;
    case Aim::kHeadroom:
      // In MiB: plans whose memory differs by less are equal, and the faster one wins.
      return kFirst * static_cast<double>(figures.memory.count() / (1 << 20)) + seconds;
  }
  return seconds;
}

std::string describe(const Objective& objective, double value) {
  switch (objective.aim) {
    case Aim::kStepTime:
    case Aim::kRobustness:
    case Aim::kTokens:
      return fmt::format("{:.4g} s", value);
    case Aim::kDevices:
      return fmt::format("{:.0f} devices", value / kFirst);
    case Aim::kCost:
      return fmt::format("{:.4g} per million tokens", value);
    case Aim::kEnergy:
      return fmt::format("{:.4g} kJ per million tokens", value);
    case Aim::kHeadroom:
      return fmt::format("{:.0f} MiB in use", value / kFirst);
  }
  return {};
}

std::optional<double> cost_per_million_tokens(const Objective& objective,
                                              const PlanFigures& figures) {
  return objective.device_hour
             ? std::optional(device_seconds(figures) * kMillion * *objective.device_hour / 3600)
             : std::nullopt;
}

std::optional<double> kilojoules_per_million_tokens(const Objective& objective,
                                                    const PlanFigures& figures) {
  return objective.device_watts
             ? std::optional(device_seconds(figures) * kMillion * *objective.device_watts / 1000)
             : std::nullopt;
}

}  // namespace stagewright
