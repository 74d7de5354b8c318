#include "planner/schedules/interleaved_zero_bubble.h"

#include <array>

#include "planner/schedules/chunk_groups.h"
#include "planner/schedules/split_backward.h"
#include "planner/schedules/stage_layout.h"

namespace stagewright {
namespace {

constexpr std::array<std::string_view, 1> kAliases{"interleaved-zb"};
constexpr std::array<std::string_view, 1> kParameters{"group"};

Result<PipelineOrder> generate(const PipelineShape& shape) {
  Result<std::int32_t> group = group_size(shape, "interleaved-zero-bubble");
  if (!group) {
    return pass_on(std::move(group));
  }
  return split_backward_order(shape, {.group = *group, .depth = 1});
}

}  // namespace

ScheduleGenerator interleaved_zero_bubble_schedule() {
  return {.name = "interleaved-zero-bubble",
          .aliases = kAliases,
          .summary = "interleaved 1F1B with split backward",
          .figures = {.bubble = "(P-1)(F+I-W)",
                      .peak = "(V-1)G+P, until W",
                      .weights = "1",
                      .constraints = "as interleaved-1f1b"},
          .parameters = kParameters,
          .default_virtual_stages = 2,
          .splits_backward = true,
          .layout = looped_layout,
          .accepts = divides_into_groups,
          .generate = generate};
}

}  // namespace stagewright
