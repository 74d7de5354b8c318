#include "planner/explain/priced_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "planner/lower/lower.h"
#include "sim/engine/static_pass.h"
#include "sim/memory/memory_timeline.h"

namespace stagewright {
namespace {

LiveBytes held_at_peak(const RankProgram& program) {
  const MemoryTimeline timeline = memory_timeline(program);
  return timeline.by_action.empty()
             ? LiveBytes{}
             : *std::ranges::max_element(
                   timeline.by_action, {}, [](const LiveBytes& live) { return total_of(live); });
}

std::vector<RankMemory> memory_of(const Schedule& schedule,
                                  const Cluster& cluster,
                                  const Summary& summary) {
  std::map<std::int32_t, LiveBytes> known;  // by program
  std::vector<RankMemory> memory;
  for (const RankSummary& rank : summary.ranks) {
    const RankBinding& binding = schedule.ranks[rank.rank.index()];
    const RankProgram& program = schedule.programs[binding.program.index()];
    const auto [found, is_new] = known.try_emplace(binding.program.value());
    if (is_new) {
      found->second = held_at_peak(program);
    }
    RankMemory held{.rank = rank.rank,
                    .alike = rank.alike,
                    .stages = {},
                    .at_peak = found->second,
                    .context = {},
                    .total = rank.device_memory,
                    .capacity = cluster.type_of(binding.device).memory};
    held.context = held.total - total_of(held.at_peak);
    for (const StageProgram& stage : program.stages) {
      if (stage.version == 0) {
        held.stages.push_back(stage.stage);
      }
    }
    memory.push_back(std::move(held));
  }
  return memory;
}

}  // namespace

const RankMemory& PricedPlan::fullest() const {
  return *std::ranges::max_element(
      memory, {}, [](const RankMemory& rank) { return rank.total / rank.capacity; });
}

Result<PricedPlan> price_plan(const ExplainJob& job, const Plan& plan) {
  const auto schedule = lower(job.model, job.cluster, plan, job.request.repeats);
  if (!schedule) {
    return tl::unexpected<Error>(schedule.error());
  }
  const auto prices = job.prices(job.cluster, plan);
  if (!prices) {
    return tl::unexpected<Error>(prices.error());
  }
  auto simulation = simulate(
      *schedule,
      job.cluster,
      **prices,
      {.trace = TraceDetail::kNone,
       .model_flops = model_flops(job.model, plan.global_batch() * plan.sequence, plan.sequence)});
  if (!simulation) {
    return pass_on(std::move(simulation));
  }
  auto use = step_use(*schedule, job.cluster, **prices);
  if (!use) {
    return pass_on(std::move(use));
  }
  PricedPlan priced{.plan = plan,
                    .summary = std::move(simulation->summary),
                    .use = *std::move(use),
                    .memory = {}};
  priced.memory = memory_of(*schedule, job.cluster, priced.summary);
  return priced;
}

}  // namespace stagewright
