#include "cli/schedule_names.h"

#include <fnmatch.h>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "core/base/suggest.h"
#include "planner/schedules/registry.h"

namespace stagewright {
namespace {

/// A name without special characters matches itself alone.
bool means(const std::string& pattern, const ScheduleGenerator& generator) {
  const auto matches = [&pattern](std::string_view name) {
    return fnmatch(pattern.c_str(), std::string(name).c_str(), FNM_CASEFOLD) == 0;
  };
  return matches(generator.name) || std::ranges::any_of(generator.aliases, matches);
}

}  // namespace

Result<ChosenSchedules> choose_schedules(const std::vector<std::string>& names) {
  const auto all = schedule_generators();
  std::vector<std::string_view> known;
  for (const ScheduleGenerator& generator : all) {
    known.push_back(generator.name);
  }
  for (const std::string& name : names) {
    if (std::ranges::none_of(all, [&](const ScheduleGenerator& g) { return means(name, g); })) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("there is no schedule '{}'{}", name, suggestion(name, known)));
    }
  }
  ChosenSchedules chosen;
  for (const ScheduleGenerator& generator : all) {
    if (names.empty() || std::ranges::any_of(names, [&](const std::string& name) {
          return means(name, generator);
        })) {
      chosen.push_back(&generator);
    }
  }
  return chosen;
}

}  // namespace stagewright
