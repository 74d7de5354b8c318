#include "planner/explain/memory_fixes.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "planner/schedules/registry.h"

namespace stagewright {
namespace {

constexpr std::int32_t kMostZero = 3;

class Fixes {
 public:
  Fixes(const ExplainJob& job, const PricedPlan& priced)
      : job_(job), priced_(priced), plan_(priced.plan) {}

  [[nodiscard]] std::vector<MemoryFix> run(const SearchControl& control) && {
    recompute();
    shard();
    shrink_micro_batch();
    divide_sequence();
    raise_degrees();
    change_schedule();
    if (std::ranges::none_of(fixes_, fits)) {
      search_for_one(control);
    }
    std::ranges::stable_sort(fixes_, {}, [](const MemoryFix& fix) {
      using Rank = std::tuple<int, Duration, Bytes>;
      return !fix.outcome        ? Rank(2, Duration{}, Bytes{})
             : fix.outcome->fits ? Rank(0, fix.outcome->step_time, Bytes{})
                                 : Rank(1, Duration{}, fix.outcome->peak);
    });
    return std::move(fixes_);
  }

 private:
  [[nodiscard]] static bool fits(const MemoryFix& fix) { return fix.outcome && fix.outcome->fits; }

  void try_plan(std::string change, Plan plan) {
    const auto priced = price_plan(job_, plan);
    MemoryFix fix{
        .change = std::move(change), .plan = std::move(plan), .outcome = {}, .reason = {}};
    if (priced) {
      fix.outcome = {.peak = priced->summary.peak_memory,
                     .fits = priced->summary.fits,
                     .step_time = priced->summary.step_time};
      if (!fix.outcome->fits && fix.outcome->peak >= priced_.summary.peak_memory) {
        return;
      }
    } else {
      fix.reason = priced.error().to_string();
    }
    fixes_.push_back(std::move(fix));
  }

  /// Whether the user has left a dimension free.
  [[nodiscard]] bool is_free(std::string_view dimension) const {
    return !job_.request.constraints.contains(dimension);
  }

  void recompute() {
    if (!is_free("recompute")) {
      return;
    }
    for (const Recompute more : {Recompute::kSelective, Recompute::kFull}) {
      Plan plan = plan_;
      bool changed = false;
      for (StagePlan& stage : plan.stages) {
        if (stage.recompute < more || (stage.recompute == more && stage.recompute_layers)) {
          stage.recompute = more;
          stage.recompute_layers.reset();
          changed = true;
        }
      }
      if (changed) {
        try_plan(fmt::format("recompute {}", name_of(more)), std::move(plan));
      }
    }
    recompute_full_stages();
  }

  void recompute_full_stages() {
    Plan plan = plan_;
    std::string names;
    bool all = true;
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
      const bool too_full = std::ranges::any_of(priced_.memory, [&](const RankMemory& rank) {
        return rank.total > rank.capacity &&
               std::ranges::find(rank.stages, StageId(s)) != rank.stages.end();
      });
      all = all && too_full;
      if (too_full) {
        plan.stages[s].recompute = Recompute::kFull;
        plan.stages[s].recompute_layers.reset();
        names += fmt::format("{}{}", names.empty() ? "" : ", ", s);
      }
    }
    if (!all && plan != plan_) {
      try_plan(fmt::format("recompute full on the stages that are too full ({})", names),
               std::move(plan));
    }
  }

  void shard() {
    for (std::int32_t stage = plan_.zero_stage + 1; stage <= kMostZero; ++stage) {
      if (is_free("zero") && plan_.stages.front().dp > 1) {
        Plan plan = plan_;
        plan.zero_stage = stage;
        try_plan(fmt::format("ZeRO {}", stage), std::move(plan));
      }
    }
  }

  void shrink_micro_batch() {
    for (std::int32_t size = plan_.micro_batch_size; is_free("micro-batch") && size % 2 == 0;) {
      size /= 2;
      Plan plan = plan_;
      plan.micro_batches *= plan.micro_batch_size / size;
      plan.micro_batch_size = size;
      try_plan(fmt::format("micro-batches of {}, {} of them", size, plan.micro_batches), plan);
    }
  }

  void divide_sequence() {
    if (is_free("sequence-parallel") && !plan_.sequence_parallel &&
        plan_.uniform_tp().value_or(1) > 1) {
      Plan plan = plan_;
      plan.sequence_parallel = true;
      try_plan("sequence parallelism", std::move(plan));
    }
  }

  /// Twice the degree, on devices that are idle, or on half as many replicas.
  void raise_degrees() {
    const auto tp = plan_.uniform_tp();
    const auto dp = plan_.uniform_dp();
    if (!tp || !dp) {
      return;
    }
    for (const std::int32_t replicas : {*dp, *dp / 2}) {
      const std::int64_t devices = std::int64_t{2} * plan_.devices() / *dp * replicas;
      if (replicas < 1 || devices > job_.cluster.device_count() ||
          (replicas != *dp && *dp % 2 != 0)) {
        continue;
      }
      const std::string where =
          replicas == *dp ? fmt::format("on {} devices", devices) : fmt::format("dp {}", replicas);
      if (is_free("tp")) {
        Plan plan = with_replicas(replicas);
        for (StagePlan& stage : plan.stages) {
          stage.tp *= 2;
        }
        try_plan(fmt::format("tp {}, {}", 2 * *tp, where), std::move(plan));
      }
      if (is_free("pp") && plan_.stages.size() * 2 <= job_.model.layers.size()) {
        const Plan plan = with_replicas(replicas);
        try_plan(fmt::format("pp {}, {}", 2 * plan_.pp(), where),
                 with_stages(plan, 2 * static_cast<std::int32_t>(plan.stages.size())));
      }
    }
  }

  [[nodiscard]] Plan with_replicas(std::int32_t replicas) const {
    Plan plan = plan_;
    plan.micro_batches *= plan.stages.front().dp / replicas;
    for (StagePlan& stage : plan.stages) {
      stage.dp = replicas;
      stage.devices.clear();
    }
    return plan;
  }

  /// Layers spread evenly over so many stages, which recompute as the first one did.
  [[nodiscard]] Plan with_stages(Plan plan, std::int32_t stages) const {
    const StagePlan first = plan.stages.front();
    plan.stages = even_stages(
        static_cast<std::int32_t>(job_.model.layers.size()), stages, first.dp, first.tp);
    for (StagePlan& stage : plan.stages) {
      stage.recompute = first.recompute;
    }
    return plan;
  }

  void change_schedule() {
    const std::int32_t pp = plan_.pp();
    if (!is_free("schedule") || pp < 2) {
      return;
    }
    for (const ScheduleGenerator& generator : schedule_generators()) {
      const std::int32_t stages = pp * generator.default_virtual_stages;
      const PipelineShape shape{.ranks = pp,
                                .virtual_stages = generator.default_virtual_stages,
                                .micro_batches = plan_.micro_batches / plan_.flushes,
                                .parameters = {}};
      if (generator.asynchronous || generator.synthesised || generator.name == plan_.schedule ||
          static_cast<std::size_t>(stages) > job_.model.layers.size() ||
          generator.accepts == nullptr || !generator.accepts(shape)) {
        continue;
      }
      Plan plan = static_cast<std::size_t>(stages) == plan_.stages.size()
                      ? plan_
                      : with_stages(plan_, stages);
      plan.virtual_stages = generator.default_virtual_stages;
      plan.schedule = generator.name;
      plan.schedule_parameters.clear();
      try_plan(fmt::format("schedule {}", generator.name), std::move(plan));
    }
  }

  void search_for_one(const SearchControl& control) {
    if (auto best = best_plan(job_, control)) {
      try_plan(fmt::format("another plan: {}", summary(best->plan)), best->plan);
    } else {
      fixes_.push_back({.change = "another plan",
                        .plan = plan_,
                        .outcome = {},
                        .reason = best.error().to_string()});
    }
  }

  const ExplainJob& job_;
  const PricedPlan& priced_;
  const Plan& plan_;
  std::vector<MemoryFix> fixes_;
};

}  // namespace

std::vector<MemoryFix> memory_fixes(const ExplainJob& job,
                                    const PricedPlan& priced,
                                    const SearchControl& control) {
  return Fixes(job, priced).run(control);
}

}  // namespace stagewright
