#include "planner/schedules/one_stage_per_rank.h"

#include <numeric>

#include <fmt/format.h>

namespace stagewright {

Result<PipelineOrder> one_stage_per_rank(const PipelineShape& shape, std::string_view schedule) {
  if (shape.virtual_stages != 1) {
    return fail(
        ErrorCode::kInfeasible,
        fmt::format("schedule '{}' has one stage per rank, but virtual_stages is {}; set it "
                    "to 1 or choose a schedule with virtual stages",
                    schedule,
                    shape.virtual_stages),
        "plan:/virtual_stages");
  }
  PipelineOrder order{
      .stages = shape.stages(),
      .micro_batches = shape.micro_batches,
      .placement = {std::vector<std::int32_t>(static_cast<std::size_t>(shape.stages()))},
      .copy_of = {},
      .ranks = std::vector<std::vector<Action>>(static_cast<std::size_t>(shape.ranks))};
  std::iota(order.placement[0].begin(), order.placement[0].end(), 0);
  for (auto& actions : order.ranks) {
    actions.reserve(2 * static_cast<std::size_t>(shape.micro_batches));
  }
  return order;
}

}  // namespace stagewright
