#include "planner/schedules/eager_one_forward_one_backward.h"

#include <array>

#include "planner/schedules/one_forward_one_backward.h"
#include "planner/schedules/stage_layout.h"

namespace stagewright {
namespace {

constexpr std::array<std::string_view, 1> kAliases{"1f1b-eager"};

Result<PipelineOrder> generate(const PipelineShape& shape) {
  return one_forward_one_backward(shape, 2, "eager-1f1b");
}

}  // namespace

ScheduleGenerator eager_one_forward_one_backward_schedule() {
  return {.name = "eager-1f1b",
          .aliases = kAliases,
          .summary = "1F1B with twice the warm-up, which hides transfers for more memory",
          .figures = {.bubble = "(P-1)(F+B)",
                      .peak = "2(P-r)-1",
                      .weights = "1",
                      .constraints = "V = 1"},
          .parameters = {},
          .layout = looped_layout,
          .accepts = [](const PipelineShape& shape) { return shape.virtual_stages == 1; },
          .generate = generate};
}

}  // namespace stagewright
