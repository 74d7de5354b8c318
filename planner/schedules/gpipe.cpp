#include "planner/schedules/gpipe.h"

#include <array>

#include "planner/schedules/one_stage_per_rank.h"
#include "planner/schedules/stage_layout.h"

namespace stagewright {
namespace {

constexpr std::array<std::string_view, 1> kParameters{"reverse"};

Result<PipelineOrder> generate(const PipelineShape& shape) {
  Result<PipelineOrder> order = one_stage_per_rank(shape, "gpipe");
  if (!order) {
    return order;
  }
  const bool reverse = shape.parameter("reverse", 0) != 0;
  for (std::int32_t rank = 0; rank < shape.ranks; ++rank) {
    auto& actions = order->ranks[static_cast<std::size_t>(rank)];
    for (std::int32_t m = 0; m < shape.micro_batches; ++m) {
      actions.push_back(compute_action(ActionKind::kForward, rank, m));
    }
    for (std::int32_t m = 0; m < shape.micro_batches; ++m) {
      actions.push_back(
          compute_action(ActionKind::kBackward, rank, reverse ? shape.micro_batches - 1 - m : m));
    }
  }
  return order;
}

}  // namespace

ScheduleGenerator gpipe_schedule() {
  return {.name = "gpipe",
          .summary = "all forwards, then all backwards; keeps every micro-batch in memory",
          .figures = {.bubble = "(P-1)(F+B)", .peak = "M", .weights = "1", .constraints = "V = 1"},
          .parameters = kParameters,
          .layout = looped_layout,
          .accepts = [](const PipelineShape& shape) { return shape.virtual_stages == 1; },
          .generate = generate};
}

}  // namespace stagewright
