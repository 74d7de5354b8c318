#include "core/plan/plan.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/check.h"

namespace stagewright {
namespace {

constexpr std::array<std::string_view, 3> kRecomputeNames = {"none", "selective", "full"};

/// The value that `member` has in all stages.
std::optional<std::int32_t> uniform(const std::vector<StagePlan>& stages,
                                    std::int32_t StagePlan::*member) {
  const bool equal = std::ranges::all_of(
      stages, [&](const StagePlan& stage) { return stage.*member == stages.front().*member; });
  return stages.empty() || !equal ? std::nullopt : std::optional(stages.front().*member);
}

/// "8", or "8/4/4" where the stages differ.
std::string degrees(const Plan& plan, std::int32_t StagePlan::*member) {
  if (const auto same = uniform(plan.stages, member)) {
    return fmt::to_string(*same);
  }
  std::string text;
  for (const StagePlan& stage : plan.stages) {
    text += fmt::format("{}{}", text.empty() ? "" : "/", stage.*member);
  }
  return text;
}

std::string recompute_text(const std::vector<StagePlan>& stages) {
  const StagePlan& first = stages.front();
  const bool equal = std::ranges::all_of(stages, [&](const StagePlan& stage) {
    return stage.recompute == first.recompute && stage.recompute_layers == first.recompute_layers;
  });
  if (!equal) {
    return "mixed";
  }
  return first.recompute_layers
             ? fmt::format(
                   "{} ({} layers a stage)", name_of(first.recompute), *first.recompute_layers)
             : std::string(name_of(first.recompute));
}

}  // namespace

std::string_view name_of(Recompute recompute) {
  return kRecomputeNames[static_cast<std::size_t>(recompute)];
}

std::string_view name_of(RecomputePlacement placement) {
  return placement == RecomputePlacement::kAhead ? "ahead" : "backward";
}

std::optional<Recompute> recompute_named(std::string_view name) {
  const auto* const found = std::ranges::find(kRecomputeNames, name);
  return found == kRecomputeNames.end()
             ? std::nullopt
             : std::optional(static_cast<Recompute>(found - kRecomputeNames.begin()));
}

std::int32_t Plan::devices() const {
  SW_CHECK(!stages.empty(), "at least one stage");
  std::int32_t count = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(pp()); ++i) {
    count += stages[i].dp * cp * stages[i].tp;
  }
  return count;
}

std::int64_t Plan::global_batch() const {
  const auto dp = uniform_dp();
  SW_CHECK(dp.has_value(), "equal data-parallel degrees in all stages");
  return std::int64_t{*dp} * micro_batch_size * micro_batches;
}

std::optional<std::int32_t> Plan::uniform_dp() const {
  return uniform(stages, &StagePlan::dp);
}

std::optional<std::int32_t> Plan::uniform_tp() const {
  return uniform(stages, &StagePlan::tp);
}

std::vector<StagePlan> even_stages(std::int32_t layers,
                                   std::int32_t stages,
                                   std::int32_t dp,
                                   std::int32_t tp) {
  SW_CHECK(stages >= 1 && stages <= layers, "between one stage and one per layer");
  std::vector<StagePlan> result(static_cast<std::size_t>(stages));
  std::int32_t next = 0;
  for (std::int32_t i = 0; i < stages; ++i) {
    StagePlan& stage = result[static_cast<std::size_t>(i)];
    stage.first_layer = next;
    stage.layers = layers / stages + (i < layers % stages ? 1 : 0);
    stage.dp = dp;
    stage.tp = tp;
    next += stage.layers;
  }
  return result;
}

std::string summary(const Plan& plan) {
  SW_CHECK(!plan.stages.empty(), "at least one stage");
  std::string text = fmt::format("tp{} pp{}", degrees(plan, &StagePlan::tp), plan.pp());
  if (plan.virtual_stages > 1) {
    text += fmt::format(" v{}", plan.virtual_stages);
  }
  text += fmt::format(" dp{}", degrees(plan, &StagePlan::dp));
  if (plan.cp > 1) {
    text += fmt::format(" cp{}", plan.cp);
  }
  if (plan.ep > 1) {
    text += fmt::format(" ep{}", plan.ep);
  }
  text += fmt::format(
      ", {} x {} micro-batches, {}", plan.micro_batches, plan.micro_batch_size, plan.schedule);
  if (plan.flushes > 1) {
    text += fmt::format(" in {} rounds", plan.flushes);
  }
  text += fmt::format(", recompute {}", recompute_text(plan.stages));
  if (plan.recompute_placement == RecomputePlacement::kAhead) {
    text += " ahead";
  }
  if (plan.zero_stage > 0) {
    text += fmt::format(", zero {}", plan.zero_stage);
  }
  if (plan.sequence_parallel) {
    text += ", sequence parallel";
  }
  return text;
}

}  // namespace stagewright
