#include "planner/schedules/generator.h"

namespace stagewright {

std::int64_t PipelineShape::parameter(const std::string& name, std::int64_t otherwise) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? otherwise : found->second;
}

}  // namespace stagewright
