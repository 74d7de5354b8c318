#include "planner/schedules/zb_h1_quick_start.h"

#include "planner/schedules/shape_rules.h"
#include "planner/schedules/split_backward.h"
#include "planner/schedules/stage_layout.h"

namespace stagewright {
namespace {

bool accepts(const PipelineShape& shape) {
  return shape.virtual_stages == 1;
}

Result<PipelineOrder> generate(const PipelineShape& shape) {
  ShapeRules rules(shape, "zb-h1-quick-start");
  add_virtual_stages_rule(rules, 1);
  if (Result<void> checked = rules.check(accepts); !checked) {
    return pass_on(std::move(checked));
  }
  return split_backward_order(
      shape, {.group = shape.micro_batches, .depth = 1, .whole_when_steady = true});
}

}  // namespace

ScheduleGenerator zb_h1_quick_start_schedule() {
  return {.name = "zb-h1-quick-start",
          .summary = "1F1B whose backward is split only where it fills and drains",
          .figures = {.bubble = "(P-1)(F+I-W)",
                      .peak = "P, until W",
                      .weights = "1",
                      .constraints = "V = 1"},
          .parameters = {},
          .default_virtual_stages = 1,
          .splits_backward = true,
          .layout = looped_layout,
          .accepts = accepts,
          .generate = generate};
}

}  // namespace stagewright
