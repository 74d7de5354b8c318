#include "planner/lower/rank_grid.h"

#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "core/base/check.h"

namespace stagewright {
namespace {

RankGrid number_ranks(const Plan& plan) {
  RankGrid grid;
  grid.size = {.tensor = plan.stages.front().tp,
               .context = plan.cp,
               .data = plan.stages.front().dp,
               .pipeline = plan.pp()};
  std::int32_t stride = 1;
  for (const std::string_view axis : plan.rank_order) {
    if (axis == "tp") {
      grid.stride.tensor = stride;
      stride *= grid.size.tensor;
    } else if (axis == "cp") {
      grid.stride.context = stride;
      stride *= grid.size.context;
    } else if (axis == "dp") {
      grid.stride.data = stride;
      stride *= grid.size.data;
    } else if (axis == "pp") {
      grid.stride.pipeline = stride;
      stride *= grid.size.pipeline;
    }
  }
  return grid;
}

/// Lists of one pipeline rank: every stage on it that has a list must have the same.
Result<const StagePlan*> stage_with_devices(const Plan& plan,
                                            const PipelineOrder& order,
                                            std::int32_t pipeline_rank) {
  const StagePlan* chosen = nullptr;
  std::size_t chosen_stage = 0;
  for (const auto& placement : order.placement) {
    for (std::size_t stage = 0; stage < placement.size(); ++stage) {
      const StagePlan& candidate = plan.stages[stage];
      if (placement[stage] != pipeline_rank || candidate.devices.empty()) {
        continue;
      }
      if (chosen != nullptr && chosen->devices != candidate.devices) {
        return fail(
            ErrorCode::kInfeasible,
            fmt::format("stages {} and {} run on the same ranks under schedule '{}' but list "
                        "different devices; give both the same list",
                        chosen_stage,
                        stage,
                        plan.schedule),
            fmt::format("plan:/stages/{}/devices", stage));
      }
      chosen = &candidate;
      chosen_stage = stage;
    }
  }
  return chosen;
}

}  // namespace

Result<RankGrid> place_ranks(const Plan& plan, const PipelineOrder& order) {
  RankGrid grid = number_ranks(plan);
  grid.devices.resize(static_cast<std::size_t>(grid.ranks()));
  for (std::size_t rank = 0; rank < grid.devices.size(); ++rank) {
    grid.devices[rank] = DeviceId(rank);
  }
  for (std::int32_t p = 0; p < grid.size.pipeline; ++p) {
    Result<const StagePlan*> stage = stage_with_devices(plan, order, p);
    if (!stage) {
      return pass_on(std::move(stage));
    }
    if (*stage == nullptr) {
      continue;
    }
    for (std::int32_t d = 0; d < grid.size.data; ++d) {
      for (std::int32_t c = 0; c < grid.size.context; ++c) {
        for (std::int32_t t = 0; t < grid.size.tensor; ++t) {
          const RankId rank = grid.rank({.tensor = t, .context = c, .data = d, .pipeline = p});
          const std::int32_t place = (d * grid.size.context + c) * grid.size.tensor + t;
          grid.devices[rank.index()] = DeviceId((*stage)->devices[static_cast<std::size_t>(place)]);
        }
      }
    }
  }
  return grid;
}

}  // namespace stagewright
