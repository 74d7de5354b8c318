#include "planner/lower/check_order.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/counted.h"
#include "planner/axes/pipeline.h"

namespace stagewright {
namespace {

/// What of an order is not as large as the plan.
std::optional<std::string> misfit(const Plan& plan, const PipelineOrder& order) {
  const auto stages = static_cast<std::int32_t>(plan.stages.size());
  if (order.stages != stages || order.micro_batches != plan.micro_batches ||
      static_cast<std::int32_t>(order.ranks.size()) != plan.pp()) {
    return fmt::format("has {} on {} and {}, but the plan {} on {} and {}",
                       counted(order.stages, "stage"),
                       counted(static_cast<std::int64_t>(order.ranks.size()), "rank"),
                       counted(order.micro_batches, "micro-batch"),
                       stages,
                       plan.pp(),
                       plan.micro_batches);
  }
  const auto is_rank = [&](std::int32_t rank) { return rank >= 0 && rank < plan.pp(); };
  const bool placed =
      !order.placement.empty() && std::ranges::all_of(order.placement, [&](const auto& copy) {
        return copy.size() == plan.stages.size() && std::ranges::all_of(copy, is_rank);
      });
  if (!placed) {
    return "does not place every stage on one of its ranks";
  }
  const auto copies = static_cast<std::int32_t>(order.placement.size());
  const bool chosen = order.copy_of.empty()
                          ? copies == 1
                          : static_cast<std::int32_t>(order.copy_of.size()) == plan.micro_batches;
  if (!chosen || std::ranges::any_of(order.copy_of, [&](std::int32_t copy) {
        return copy < 0 || copy >= copies;
      })) {
    return "does not say which copy of the stages each micro-batch uses";
  }
  return std::nullopt;
}

/// An action that runs a stage on a rank that does not hold it, or something else than a stage.
std::optional<std::string> misplaced_action(const PipelineOrder& order) {
  for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
    for (const Action& action : order.ranks[rank]) {
      const bool exists = is_compute(action.kind) && action.stage.value() >= 0 &&
                          action.stage.value() < order.stages && action.micro_batch.value() >= 0 &&
                          action.micro_batch.value() < order.micro_batches;
      if (!exists || pipeline_rank_of(order, action.stage, action.micro_batch) !=
                         static_cast<std::int32_t>(rank)) {
        return fmt::format("has {} on rank {}, where it does not belong", to_string(action), rank);
      }
    }
  }
  return std::nullopt;
}

/// A stage of which some rank holds two copies.
std::optional<std::size_t> doubled_stage(const PipelineOrder& order) {
  for (std::size_t stage = 0; stage < static_cast<std::size_t>(order.stages); ++stage) {
    std::set<std::int32_t> ranks;
    for (const std::vector<std::int32_t>& copy : order.placement) {
      if (!ranks.insert(copy[stage]).second) {
        return stage;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Result<void> check_order(const Plan& plan, const PipelineOrder& order) {
  auto problem = misfit(plan, order);
  if (!problem) {
    problem = misplaced_action(order);
  }
  if (problem) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("schedule '{}' {}", plan.schedule, *problem),
                "plan:/schedule");
  }
  if (const auto stage = doubled_stage(order)) {
    return fail(
        ErrorCode::kInfeasible,
        fmt::format("schedule '{}' puts two copies of stage {} on one rank; each copy needs "
                    "a rank of its own",
                    plan.schedule,
                    *stage),
        "plan:/schedule");
  }
  if (order.placement.size() > 1 && plan.zero_stage > 1) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("zero_stage is {}, but schedule '{}' has two copies of each stage, "
                            "whose gradients are summed at the end of the step; use 0 or 1",
                            plan.zero_stage,
                            plan.schedule),
                "plan:/zero_stage");
  }
  return {};
}

Result<void> check_updates(const Plan& plan,
                           const PipelineOrder& order,
                           const SharedWeights& shared) {
  if (!order.updates) {
    return {};
  }
  if (plan.precision.compute == DType::kFloat16) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("compute is fp16, but under schedule '{}' stages change their weights "
                            "before anybody knows whether the scaled gradients are numbers; use "
                            "bf16 or fp32",
                            plan.schedule),
                "plan:/precision/compute");
  }
  if (plan.optimizer.clip_norm) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("clip_norm is {}, but under schedule '{}' stages change their weights "
                            "at different times, when no norm of the whole gradient is known; set "
                            "it to null",
                            *plan.optimizer.clip_norm,
                            plan.schedule),
                "plan:/optimizer/clip_norm");
  }
  if (plan.zero_stage > 0) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("zero_stage is {}, but under schedule '{}' each rank keeps several "
                            "versions of whole weights; set it to 0",
                            plan.zero_stage,
                            plan.schedule),
                "plan:/zero_stage");
  }
  if (!shared.sharings.empty()) {
    return fail(
        ErrorCode::kInfeasible,
        fmt::format("model '{}' has a tied weight on several pipeline ranks, which change "
                    "their weights at different times under schedule '{}'; untie it, or use "
                    "a schedule with a flush, such as '1f1b'",
                    plan.model,
                    plan.schedule),
        "plan:/schedule");
  }
  return {};
}

}  // namespace stagewright
