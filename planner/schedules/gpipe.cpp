#include "planner/schedules/gpipe.h"

#include "planner/schedules/one_stage_per_rank.h"

namespace stagewright {
namespace {

Result<PipelineOrder> generate(const PipelineShape& shape) {
  Result<PipelineOrder> order = one_stage_per_rank(shape, "gpipe");
  if (!order) {
    return order;
  }
  for (std::int32_t rank = 0; rank < shape.ranks; ++rank) {
    auto& actions = order->ranks[static_cast<std::size_t>(rank)];
    for (const ActionKind kind : {ActionKind::kForward, ActionKind::kBackward}) {
      for (std::int32_t m = 0; m < shape.micro_batches; ++m) {
        actions.push_back({.kind = kind,
                           .stage = StageId(rank),
                           .micro_batch = MicroBatchId(m),
                           .peer = {},
                           .bucket = {}});
      }
    }
  }
  return order;
}

}  // namespace

ScheduleGenerator gpipe_schedule() {
  return {.name = "gpipe",
          .summary = "all forwards, then all backwards; keeps every micro-batch in memory",
          .parameters = {},
          .generate = generate};
}

}  // namespace stagewright
