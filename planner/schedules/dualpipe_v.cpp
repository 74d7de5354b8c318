#include "planner/schedules/dualpipe_v.h"

#include <array>

#include <fmt/format.h>

#include "planner/schedules/dual_pipe_order.h"
#include "planner/schedules/stage_layout.h"

namespace stagewright {
namespace {

constexpr std::array<std::string_view, 1> kAliases{"dualpipev"};

Result<PipelineOrder> generate(const PipelineShape& shape) {
  if (Result<void> two = require_virtual_stages(shape, 2, "dualpipe-v"); !two) {
    return pass_on(std::move(two));
  }
  if (shape.micro_batches < 2 * shape.ranks) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("schedule 'dualpipe-v' needs at least 2P = {} micro-batches on {} "
                            "ranks, but there are {}; take {} or more",
                            2 * shape.ranks,
                            shape.ranks,
                            shape.micro_batches,
                            2 * shape.ranks),
                "plan:/micro_batches");
  }
  PipelineOrder order = wave_layout(shape);
  order.pairs.resize(order.ranks.size());
  for (std::int32_t rank = 0; rank < shape.ranks; ++rank) {
    append_dual_pipe_rank(order,
                          static_cast<std::size_t>(rank),
                          {.near_stage = rank,
                           .far_stage = 2 * shape.ranks - 1 - rank,
                           .distance = rank,
                           .ways = shape.ranks,
                           .overlapped = shape.micro_batches - 2 * shape.ranks + rank + 1});
  }
  return order;
}

}  // namespace

ScheduleGenerator dualpipe_v_schedule() {
  return {.name = "dualpipe-v",
          .aliases = kAliases,
          .summary = "overlapped forward and backward on a V; hides all-to-alls",
          .figures = {.bubble = "(P-1)(F&B+B-3W)",
                      .peak = "2P+1",
                      .weights = "1",
                      .constraints = "V = 2, M >= 2P"},
          .parameters = {},
          .default_virtual_stages = 2,
          .splits_backward = true,
          .pairs = true,
          .layout = wave_layout,
          .accepts =
              [](const PipelineShape& shape) {
                return shape.virtual_stages == 2 && shape.micro_batches >= 2 * shape.ranks;
              },
          .generate = generate};
}

}  // namespace stagewright
