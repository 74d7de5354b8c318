#include "planner/schedules/dualpipe_v.h"

#include <array>

#include <fmt/format.h>

#include "core/base/counted.h"
#include "planner/schedules/dual_pipe_order.h"
#include "planner/schedules/shape_rules.h"
#include "planner/schedules/stage_layout.h"

namespace stagewright {
namespace {

constexpr std::array<std::string_view, 1> kAliases{"dualpipev"};

bool accepts(const PipelineShape& shape) {
  return shape.virtual_stages == 2 && shape.micro_batches >= 2 * shape.ranks;
}

Result<PipelineOrder> generate(const PipelineShape& shape) {
  ShapeRules rules(shape, "dualpipe-v");
  add_virtual_stages_rule(rules, 2);
  const std::int32_t least = 2 * shape.ranks;
  rules.add(shape.micro_batches >= least,
            "micro_batches",
            fmt::format("needs at least 2P = {} micro-batches on {}, but there are {}",
                        least,
                        counted(shape.ranks, "rank"),
                        shape.micro_batches),
            fmt::format("take {} or more", least));
  if (Result<void> checked = rules.check(accepts); !checked) {
    return pass_on(std::move(checked));
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
          .accepts = accepts,
          .generate = generate};
}

}  // namespace stagewright
