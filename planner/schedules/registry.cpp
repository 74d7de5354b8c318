#include "planner/schedules/registry.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/suggest.h"
#include "planner/schedules/gpipe.h"
#include "planner/schedules/one_forward_one_backward.h"

namespace stagewright {
std::span<const ScheduleGenerator> schedule_generators() {
  static const std::array kGenerators{
      gpipe_schedule(),
      one_forward_one_backward_schedule(),
  };
  return kGenerators;
}

Result<ScheduleGenerator> find_schedule(std::string_view name) {
  const auto all = schedule_generators();
  const auto found = std::find_if(
      all.begin(), all.end(), [name](const ScheduleGenerator& g) { return g.name == name; });
  if (found != all.end()) {
    return *found;
  }
  std::vector<std::string_view> names;
  for (const ScheduleGenerator& generator : all) {
    names.push_back(generator.name);
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("there is no schedule '{}'{}", name, suggestion(name, names)),
              "plan:/schedule");
}

}  // namespace stagewright
