#include "planner/schedules/stage_layout.h"

#include <fmt/format.h>

namespace stagewright {
namespace {

PipelineOrder frame(const PipelineShape& shape, std::int32_t stages) {
  PipelineOrder order;
  order.stages = stages;
  order.micro_batches = shape.micro_batches;
  order.ranks.resize(static_cast<std::size_t>(shape.ranks));
  return order;
}

}  // namespace

PipelineOrder looped_layout(const PipelineShape& shape) {
  PipelineOrder order = frame(shape, shape.stages());
  order.placement.resize(1);
  for (std::int32_t stage = 0; stage < order.stages; ++stage) {
    order.placement[0].push_back(stage % shape.ranks);
  }
  return order;
}

PipelineOrder wave_layout(const PipelineShape& shape) {
  PipelineOrder order = frame(shape, shape.stages());
  order.placement.resize(1);
  for (std::int32_t stage = 0; stage < order.stages; ++stage) {
    const std::int32_t along = stage % shape.ranks;
    const bool down = stage / shape.ranks % 2 == 0;
    order.placement[0].push_back(down ? along : shape.ranks - 1 - along);
  }
  return order;
}

PipelineOrder two_way_layout(const PipelineShape& shape) {
  PipelineOrder order = frame(shape, shape.ranks);
  order.placement.resize(2);
  for (std::int32_t stage = 0; stage < order.stages; ++stage) {
    order.placement[0].push_back(stage);
    order.placement[1].push_back(shape.ranks - 1 - stage);
  }
  for (std::int32_t m = 0; m < shape.micro_batches; ++m) {
    order.copy_of.push_back(m < shape.micro_batches / 2 ? 0 : 1);
  }
  return order;
}

Result<void> require_virtual_stages(const PipelineShape& shape,
                                    std::int32_t virtual_stages,
                                    std::string_view schedule) {
  if (shape.virtual_stages != virtual_stages) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("schedule '{}' has {} virtual stages per rank, but virtual_stages is "
                            "{}; set it to {}",
                            schedule,
                            virtual_stages,
                            shape.virtual_stages,
                            virtual_stages),
                "plan:/virtual_stages");
  }
  return {};
}

Result<void> require_two_way(const PipelineShape& shape, std::string_view schedule) {
  if (shape.virtual_stages > 2) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("schedule '{}' has one stage per rank and direction, but "
                            "virtual_stages is {}; set it to 1",
                            schedule,
                            shape.virtual_stages),
                "plan:/virtual_stages");
  }
  if (shape.ranks % 2 != 0) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("schedule '{}' needs an even number of ranks, but there are {}; {}{} "
                            "would work",
                            schedule,
                            shape.ranks,
                            shape.ranks > 1 ? fmt::format("{} or ", shape.ranks - 1) : "",
                            shape.ranks + 1),
                "plan:/stages");
  }
  return {};
}

}  // namespace stagewright
