#include "planner/schedules/stage_layout.h"

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

}  // namespace stagewright
