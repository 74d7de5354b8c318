#include "planner/schedules/one_forward_one_backward.h"

#include <algorithm>
#include <array>

#include "planner/schedules/one_stage_per_rank.h"
#include "planner/schedules/stage_layout.h"

namespace stagewright {

Result<PipelineOrder> one_forward_one_backward(const PipelineShape& shape,
                                               std::int32_t eager,
                                               std::string_view schedule) {
  Result<PipelineOrder> order = one_stage_per_rank(shape, schedule);
  if (!order) {
    return order;
  }
  for (std::int32_t rank = 0; rank < shape.ranks; ++rank) {
    auto& actions = order->ranks[static_cast<std::size_t>(rank)];
    const auto run = [&actions, rank](ActionKind kind, std::int32_t m) {
      actions.push_back({.kind = kind,
                         .stage = StageId(rank),
                         .micro_batch = MicroBatchId(m),
                         .peer = {},
                         .bucket = {}});
    };
    const std::int32_t warm_up = std::min(eager * (shape.ranks - 1 - rank), shape.micro_batches);
    for (std::int32_t m = 0; m < warm_up; ++m) {
      run(ActionKind::kForward, m);
    }
    for (std::int32_t m = 0; m + warm_up < shape.micro_batches; ++m) {
      run(ActionKind::kForward, m + warm_up);
      run(ActionKind::kBackward, m);
    }
    for (std::int32_t m = shape.micro_batches - warm_up; m < shape.micro_batches; ++m) {
      run(ActionKind::kBackward, m);
    }
  }
  return order;
}

namespace {

constexpr std::array<std::string_view, 2> kAliases{"pipedream-flush", "deepspeed"};

Result<PipelineOrder> generate(const PipelineShape& shape) {
  return one_forward_one_backward(shape, 1, "1f1b");
}

}  // namespace

ScheduleGenerator one_forward_one_backward_schedule() {
  return {
      .name = "1f1b",
      .aliases = kAliases,
      .summary = "one forward, one backward; at most P - r micro-batches in memory on rank r",
      .figures = {.bubble = "(P-1)(F+B)", .peak = "P-r", .weights = "1", .constraints = "V = 1"},
      .parameters = {},
      .layout = looped_layout,
      .accepts = [](const PipelineShape& shape) { return shape.virtual_stages == 1; },
      .generate = generate};
}

}  // namespace stagewright
