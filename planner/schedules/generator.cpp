#include "planner/schedules/generator.h"

#include <algorithm>

namespace stagewright {

std::int64_t PipelineShape::parameter(const std::string& name, std::int64_t otherwise) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? otherwise : found->second;
}

bool ScheduleGenerator::has_parameter(std::string_view parameter) const {
  const std::string_view base = parameter.substr(0, parameter.find('.'));
  const std::span<const std::string_view> known =
      base.size() == parameter.size() ? parameters : indexed_parameters;
  return std::find(known.begin(), known.end(), base) != known.end();
}

}  // namespace stagewright
