#include "planner/schedules/chimera.h"

#include <fmt/format.h>

#include "planner/schedules/shape_rules.h"
#include "planner/schedules/stage_layout.h"
#include "planner/schedules/timed_actions.h"

namespace stagewright {
namespace {

bool accepts(const PipelineShape& shape) {
  return shape.virtual_stages == 1 && shape.ranks % 2 == 0 &&
         shape.micro_batches % shape.ranks == 0;
}

Result<PipelineOrder> generate(const PipelineShape& shape) {
  const std::int32_t ranks = shape.ranks;
  const std::int32_t below = shape.micro_batches / ranks * ranks;
  ShapeRules rules(shape, "chimera");
  add_two_way_rules(rules);
  rules.add(
      shape.micro_batches % ranks == 0,
      "micro_batches",
      fmt::format("needs a multiple of its {} ranks as micro-batches, but there are {}",
                  ranks,
                  shape.micro_batches),
      fmt::format("{}{} would work", below > 0 ? fmt::format("{} or ", below) : "", below + ranks));
  if (Result<void> checked = rules.check(accepts); !checked) {
    return pass_on(std::move(checked));
  }
  PipelineOrder order = two_way_layout(shape);
  const std::int32_t per_unit = ranks / 2;
  const std::int32_t per_way = shape.micro_batches / 2;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    // In slots of one forward or backward: each way runs 1F1B with a micro-batch every second slot,
    // and the parities of the two ways differ on every rank.
    std::vector<TimedAction> timed;
    for (std::int32_t way = 0; way < 2; ++way) {
      const std::int32_t stage = way == 0 ? rank : ranks - 1 - rank;
      for (std::int32_t m = 0; m < per_way; ++m) {
        const std::int64_t enters = std::int64_t{m / per_unit} * 2 * ranks + m % per_unit * 2;
        const std::int32_t micro_batch = way * per_way + m;
        timed.push_back({enters + stage, compute_action(ActionKind::kForward, stage, micro_batch)});
        timed.push_back({enters + 2 * ranks - 1 - stage,
                         compute_action(ActionKind::kBackward, stage, micro_batch)});
      }
    }
    order.ranks[static_cast<std::size_t>(rank)] = by_time(std::move(timed));
  }
  return order;
}

}  // namespace

ScheduleGenerator chimera_schedule() {
  return {.name = "chimera",
          .summary = "two pipelines in opposite directions that fill each other's gaps",
          .figures = {.bubble = "2(P-2)+(M/P-1)(P-2) for F = 1, B = 2",
                      .peak = "P/2+1 to P",
                      .weights = "2",
                      .constraints = "P even, M a multiple of P"},
          .parameters = {},
          .layout = two_way_layout,
          .accepts = accepts,
          .generate = generate};
}

}  // namespace stagewright
