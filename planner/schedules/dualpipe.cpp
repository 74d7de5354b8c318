#include "planner/schedules/dualpipe.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/counted.h"
#include "planner/schedules/dual_pipe_order.h"
#include "planner/schedules/shape_rules.h"
#include "planner/schedules/stage_layout.h"

namespace stagewright {
namespace {

bool accepts(const PipelineShape& shape) {
  return shape.virtual_stages == 1 && shape.ranks % 2 == 0 && shape.micro_batches % 2 == 0 &&
         shape.micro_batches >= 2 * shape.ranks;
}

Result<PipelineOrder> generate(const PipelineShape& shape) {
  ShapeRules rules(shape, "dualpipe");
  add_two_way_rules(rules);
  rules.add(shape.micro_batches % 2 == 0 && shape.micro_batches >= 2 * shape.ranks,
            "micro_batches",
            fmt::format("needs an even number of micro-batches, at least 2P = {} on {}, but "
                        "there are {}",
                        2 * shape.ranks,
                        counted(shape.ranks, "rank"),
                        shape.micro_batches),
            fmt::format("{} would work",
                        std::max(2 * shape.ranks, shape.micro_batches + shape.micro_batches % 2)));
  if (Result<void> checked = rules.check(accepts); !checked) {
    return pass_on(std::move(checked));
  }
  PipelineOrder order = two_way_layout(shape);
  order.pairs.resize(order.ranks.size());
  const std::int32_t half = shape.micro_batches / 2;
  for (std::int32_t rank = 0; rank < shape.ranks; ++rank) {
    const std::int32_t mirrored = shape.ranks - 1 - rank;
    const std::int32_t distance = std::min(rank, mirrored);
    const bool first_half = rank < shape.ranks / 2;
    append_dual_pipe_rank(order,
                          static_cast<std::size_t>(rank),
                          {.near_stage = distance,
                           .far_stage = shape.ranks - 1 - distance,
                           .near_first = first_half ? 0 : half,
                           .far_first = first_half ? half : 0,
                           .distance = distance,
                           .ways = shape.ranks / 2,
                           .overlapped = half - shape.ranks + distance + 1});
  }
  return order;
}

}  // namespace

ScheduleGenerator dualpipe_schedule() {
  return {.name = "dualpipe",
          .summary = "micro-batches from both ends, overlapped forward and backward",
          .figures = {.bubble = "(P/2-1)(F&B+B-3W)",
                      .peak = "P+1",
                      .weights = "2",
                      .constraints = "P and M even, M >= 2P"},
          .parameters = {},
          .splits_backward = true,
          .pairs = true,
          .layout = two_way_layout,
          .accepts = accepts,
          .generate = generate};
}

}  // namespace stagewright
