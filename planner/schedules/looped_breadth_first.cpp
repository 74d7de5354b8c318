#include "planner/schedules/looped_breadth_first.h"

#include <array>

#include "planner/schedules/stage_layout.h"

namespace stagewright {
namespace {

constexpr std::array<std::string_view, 2> kAliases{"bfs", "loopedbfs"};

Result<PipelineOrder> generate(const PipelineShape& shape) {
  PipelineOrder order = looped_layout(shape);
  for (std::int32_t rank = 0; rank < shape.ranks; ++rank) {
    auto& actions = order.ranks[static_cast<std::size_t>(rank)];
    for (std::int32_t stage = rank; stage < order.stages; stage += shape.ranks) {
      for (std::int32_t m = 0; m < shape.micro_batches; ++m) {
        actions.push_back(compute_action(ActionKind::kForward, stage, m));
      }
    }
    for (std::int32_t stage = order.stages - shape.ranks + rank; stage >= 0; stage -= shape.ranks) {
      for (std::int32_t m = shape.micro_batches - 1; m >= 0; --m) {
        actions.push_back(compute_action(ActionKind::kBackward, stage, m));
      }
    }
  }
  return order;
}

}  // namespace

ScheduleGenerator looped_breadth_first_schedule() {
  return {.name = "looped-bfs",
          .aliases = kAliases,
          .summary = "stage by stage, all micro-batches each; fewest parameter gathers",
          .figures = {.bubble = "(P-1)(F+B)",
                      .peak = "V*M",
                      .weights = "1",
                      .constraints = "none; short of micro-batches the bubble grows if M < P"},
          .parameters = {},
          .default_virtual_stages = 2,
          .layout = looped_layout,
          .accepts = [](const PipelineShape&) { return true; },
          .generate = generate};
}

}  // namespace stagewright
