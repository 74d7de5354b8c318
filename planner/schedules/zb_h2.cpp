#include "planner/schedules/zb_h2.h"

#include <array>

#include <fmt/format.h>

#include "core/base/counted.h"
#include "planner/schedules/shape_rules.h"
#include "planner/schedules/split_backward.h"
#include "planner/schedules/stage_layout.h"

namespace stagewright {
namespace {

constexpr std::array<std::string_view, 1> kAliases{"zb-2p"};

bool accepts(const PipelineShape& shape) {
  return shape.virtual_stages == 1 && shape.micro_batches >= 2 * shape.ranks - 1;
}

Result<PipelineOrder> generate(const PipelineShape& shape) {
  ShapeRules rules(shape, "zb-h2");
  add_virtual_stages_rule(rules, 1);
  const std::int32_t least = 2 * shape.ranks - 1;
  rules.add(shape.micro_batches >= least,
            "micro_batches",
            fmt::format("needs at least 2P - 1 = {} on {}, but there are {}",
                        counted(least, "micro-batch"),
                        counted(shape.ranks, "rank"),
                        shape.micro_batches),
            fmt::format("take {} or more, or 'zb-h1'", least));
  if (Result<void> checked = rules.check(accepts); !checked) {
    return pass_on(std::move(checked));
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
          .accepts = accepts,
          .generate = generate};
}

}  // namespace stagewright
