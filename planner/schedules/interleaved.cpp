#include "planner/schedules/interleaved.h"

#include <algorithm>
#include <array>

#include "planner/schedules/chunk_groups.h"
#include "planner/schedules/stage_layout.h"

namespace stagewright {
namespace {

constexpr std::array<std::string_view, 2> kAliases{"interleaved", "interleaved1f1b"};
constexpr std::array<std::string_view, 2> kParameters{"group", "overlap"};

Result<PipelineOrder> generate(const PipelineShape& shape) {
  Result<std::int32_t> group = group_size(shape, "interleaved-1f1b");
  if (!group) {
    return pass_on(std::move(group));
  }
  const bool overlap = shape.parameter("overlap", 0) != 0;
  const std::vector<ChunkStep> forwards = forward_steps(shape, *group);
  const std::vector<ChunkStep> backwards = backward_steps(shape, *group);
  const std::size_t total = forwards.size();
  PipelineOrder order = looped_layout(shape);
  if (overlap) {
    order.pairs.resize(order.ranks.size());
  }
  for (std::int32_t rank = 0; rank < shape.ranks; ++rank) {
    auto& actions = order.ranks[static_cast<std::size_t>(rank)];
    const auto run = [&](ActionKind kind, const ChunkStep& step) {
      actions.push_back(compute_action(kind, step.chunk * shape.ranks + rank, step.micro_batch));
    };
    const auto warm_up =
        std::min(total,
                 static_cast<std::size_t>((shape.virtual_stages - 1) * *group +
                                          2 * (shape.ranks - 1 - rank) + (overlap ? 1 : 0)));
    for (std::size_t k = 0; k < warm_up; ++k) {
      run(ActionKind::kForward, forwards[k]);
    }
    for (std::size_t k = 0; k < total; ++k) {
      if (k + warm_up < total) {
        if (overlap) {
          order.pairs[static_cast<std::size_t>(rank)].push_back(
              static_cast<std::int32_t>(actions.size()));
        }
        run(ActionKind::kForward, forwards[k + warm_up]);
      }
      run(ActionKind::kBackward, backwards[k]);
    }
  }
  return order;
}

}  // namespace

ScheduleGenerator interleaved_schedule() {
  return {
      .name = "interleaved-1f1b",
      .aliases = kAliases,
      .summary = "1F1B over several stages per rank; a shorter bubble for more transfers",
      .figures = {.bubble = "(P-1)(F+B)",
                  .peak = "(V-1)G+2(P-1-r)+1",
                  .weights = "1",
                  .constraints = "M divisible into max(1, M div P) groups, or group from P to M "
                                 "with M mod group 0 or at least P"},
      .parameters = kParameters,
      .default_virtual_stages = 2,
      .layout = looped_layout,
      .accepts = divides_into_groups,
      .generate = generate};
}

}  // namespace stagewright
