#include "planner/schedules/zb_h2.h"

#include <array>

#include <fmt/format.h>

#include "planner/schedules/split_backward.h"
#include "planner/schedules/stage_layout.h"

namespace stagewright {
namespace {

constexpr std::array<std::string_view, 1> kAliases{"zb-2p"};

Result<PipelineOrder> generate(const PipelineShape& shape) {
  if (Result<void> one = require_virtual_stages(shape, 1, "zb-h2"); !one) {
    return pass_on(std::move(one));
  }
  if (shape.micro_batches < 2 * shape.ranks - 1) {
    return fail(
        ErrorCode::kInfeasible,
        fmt::format("schedule 'zb-h2' needs at least 2P - 1 = {} micro-batches on {} ranks, "
                    "but there are {}; take {} or more, or 'zb-h1'",
                    2 * shape.ranks - 1,
                    shape.ranks,
                    shape.micro_batches,
                    2 * shape.ranks - 1),
        "plan:/micro_batches");
  }
  return split_backward_order(shape, {.group = shape.micro_batches, .depth = 2});
}

}  // namespace

ScheduleGenerator zb_h2_schedule() {
  return {.name = "zb-h2",
          .aliases = kAliases,
          .summary = "no bubble inside a rank for equal costs, for twice the memory",
          .figures = {.bubble = "0 as span; makespan as zb-h1",
                      .peak = "2P-1, until W",
                      .weights = "1",
                      .constraints = "V = 1, M >= 2P-1"},
          .parameters = {},
          .default_virtual_stages = 1,
          .splits_backward = true,
          .layout = looped_layout,
          .accepts =
              [](const PipelineShape& shape) {
                return shape.virtual_stages == 1 && shape.micro_batches >= 2 * shape.ranks - 1;
              },
          .generate = generate};
}

}  // namespace stagewright
