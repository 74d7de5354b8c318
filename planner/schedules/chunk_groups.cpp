#include "planner/schedules/chunk_groups.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "core/base/counted.h"

namespace stagewright {
namespace {

bool group_works(const PipelineShape& shape, std::int64_t group) {
  const std::int64_t rest = shape.micro_batches % std::max<std::int64_t>(1, group);
  return group >= shape.ranks && group <= shape.micro_batches && (rest == 0 || rest >= shape.ranks);
}

std::string working_groups(const PipelineShape& shape) {
  constexpr int kEnough = 8;
  std::string text;
  int listed = 0;
  for (std::int32_t group = shape.ranks; group <= shape.micro_batches && listed < kEnough;
       ++group) {
    if (group_works(shape, group)) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", group);
      ++listed;
    }
  }
  return text.empty() ? fmt::format("none does with {} and {}",
                                    counted(shape.ranks, "rank"),
                                    counted(shape.micro_batches, "micro-batch"))
                      : "these would work: " + text;
}

std::vector<ChunkStep> steps(const PipelineShape& shape, std::int32_t group, bool backward) {
  std::vector<ChunkStep> all;
  all.reserve(static_cast<std::size_t>(shape.virtual_stages) *
              static_cast<std::size_t>(shape.micro_batches));
  for (std::int32_t first = 0; first < shape.micro_batches; first += group) {
    const std::int32_t last = first + std::min(group, shape.micro_batches - first);
    for (std::int32_t v = 0; v < shape.virtual_stages; ++v) {
      for (std::int32_t m = first; m < last; ++m) {
        all.push_back({backward ? shape.virtual_stages - 1 - v : v, m});
      }
    }
  }
  return all;
}

}  // namespace

std::vector<ChunkStep> forward_steps(const PipelineShape& shape, std::int32_t group) {
  return steps(shape, group, false);
}

std::vector<ChunkStep> backward_steps(const PipelineShape& shape, std::int32_t group) {
  return steps(shape, group, true);
}

Result<std::int32_t> group_size(const PipelineShape& shape, std::string_view schedule) {
  const std::int32_t groups = std::max(1, shape.micro_batches / shape.ranks);
  if (shape.parameters.contains("group")) {
    const std::int64_t asked = shape.parameters.at("group");
    if (!group_works(shape, asked)) {
      return fail(ErrorCode::kInfeasible,
                  fmt::format("schedule '{}' cannot group {} on {} by {}: a "
                              "group and what is left for the last one have at least as many "
                              "micro-batches as there are ranks; {}",
                              schedule,
                              counted(shape.micro_batches, "micro-batch"),
                              counted(shape.ranks, "rank"),
                              asked,
                              working_groups(shape)),
                  "plan:/schedule_parameters/group");
    }
    return static_cast<std::int32_t>(asked);
  }
  if (shape.micro_batches % groups != 0) {
    const std::int32_t below = shape.micro_batches / shape.ranks * shape.ranks;
    return fail(ErrorCode::kInfeasible,
                fmt::format("schedule '{}' cannot divide {} on {} into {} equal "
                            "groups; {} or {} micro-batches would work, or the parameter group: {}",
                            schedule,
                            counted(shape.micro_batches, "micro-batch"),
                            counted(shape.ranks, "rank"),
                            groups,
                            below,
                            below + shape.ranks,
                            working_groups(shape)),
                "plan:/micro_batches");
  }
  return shape.micro_batches / groups;
}

bool divides_into_groups(const PipelineShape& shape) {
  return shape.micro_batches % std::max(1, shape.micro_batches / shape.ranks) == 0;
}

}  // namespace stagewright
