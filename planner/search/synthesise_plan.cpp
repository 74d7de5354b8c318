#include "planner/search/synthesise_plan.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/check.h"
#include "planner/lower/lower.h"
#include "planner/schedules/synthesis/synth_schedule.h"
#include "sim/engine/static_pass.h"

namespace stagewright {
namespace {

/// How often caps are lowered before giving up, and to which share.
constexpr int kMostTries = 8;
constexpr double kLowerTo = 0.85;

/// A plan, lowered and simulated.
struct Simulated {
  Schedule schedule;
  Simulation simulation;
};

class PlanSynthesis {
 public:
  PlanSynthesis(const ModelGraph& model,
                const Cluster& cluster,
                const CostModel& cost,
                const Plan& plan,
                double memory_share)
      : model_(model), cluster_(cluster), cost_(cost), plan_(plan), memory_share_(memory_share) {}

  Result<SynthesisedPlan> run(std::int64_t effort) {
    const Result<Simulated> before = simulated(plan_);
    if (!before) {
      return tl::unexpected(before.error());
    }
    request_.shape = {.ranks = plan_.pp(),
                      .virtual_stages = plan_.virtual_stages,
                      .micro_batches = plan_.micro_batches / plan_.flushes};
    request_.effort = effort;
    for (const auto& measure : {&PlanSynthesis::measure_wholes,
                                &PlanSynthesis::measure_halves,
                                &PlanSynthesis::measure_caps}) {
      if (Result<void> measured = (this->*measure)(); !measured) {
        return pass_on(std::move(measured));
      }
    }
    return search(before->simulation.summary.step_time);
  }

 private:
  [[nodiscard]] Result<Simulated> simulated(const Plan& plan) const {
    Result<Schedule> schedule = lower(model_, cluster_, plan);
    if (!schedule) {
      return pass_on(std::move(schedule));
    }
    Result<Simulation> simulation =
        simulate(*schedule, cluster_, cost_, {.trace = TraceDetail::kActions});
    if (!simulation) {
      return pass_on(std::move(simulation));
    }
    return Simulated{*std::move(schedule), *std::move(simulation)};
  }

  /// The plan's stages under another schedule with so many micro-batches.
  [[nodiscard]] Result<Simulated> probe(const std::string& schedule,
                                        std::int32_t micro_batches) const {
    Plan plan = plan_;
    plan.schedule = schedule;
    plan.schedule_parameters.clear();
    plan.micro_batches = micro_batches;
    plan.flushes = 1;
    return simulated(plan);
  }

  /// The longest that an action of a kind takes, by stage.
  [[nodiscard]] std::vector<Duration> longest(const Simulated& probe, ActionKind kind) const {
    std::vector<Duration> times(plan_.stages.size());
    for (const TraceEvent& event : probe.simulation.trace.events) {
      if (!event.op_index && event.action == kind) {
        Duration& time = times[event.stage.index()];
        time = std::max(time, event.end - event.start);
      }
    }
    return times;
  }

  Result<void> measure_wholes() {
    const Result<Simulated> run = probe("looped-bfs", 1);
    if (!run) {
      return tl::unexpected(run.error());
    }
    request_.costs.forward = longest(*run, ActionKind::kForward);
    request_.costs.backward = longest(*run, ActionKind::kBackward);
    request_.costs.transfer = longest(*run, ActionKind::kSendActivation);
    for (const RankSummary& rank : run->simulation.summary.ranks) {
      note_memory(*run, rank, one_);
    }
    return {};
  }

  Result<void> measure_halves() {
    const Result<Simulated> run = probe("interleaved-zero-bubble", 1);
    if (!run) {
      return tl::unexpected(run.error());
    }
    request_.costs.backward_input = longest(*run, ActionKind::kBackwardInput);
    request_.costs.backward_weight = longest(*run, ActionKind::kBackwardWeight);
    return {};
  }

  void note_memory(const Simulated& run, const RankSummary& rank, std::vector<Bytes>& peaks) const {
    peaks.resize(run.schedule.programs.size());
    Bytes& peak = peaks[run.schedule.ranks[rank.rank.index()].program.index()];
    peak = std::max(peak, rank.device_memory);
  }

  [[nodiscard]] Bytes capacity() const {
    Bytes least = cluster_.types.front().memory;
    for (const DeviceType& type : cluster_.types) {
      least = std::min(least, type.memory);
    }
    return Bytes(static_cast<std::int64_t>(static_cast<double>(least.count()) * memory_share_));
  }

  /// What the second micro-batch adds is what each more takes.
  Result<void> measure_caps() {
    const Result<Simulated> run = probe("looped-bfs", 2);
    if (!run) {
      return tl::unexpected(run.error());
    }
    std::vector<Bytes> two;
    for (const RankSummary& rank : run->simulation.summary.ranks) {
      note_memory(*run, rank, two);
    }
    const std::int64_t most =
        std::int64_t{request_.shape.virtual_stages} * request_.shape.micro_batches;
    for (std::size_t rank = 0; rank < two.size(); ++rank) {
      const std::int64_t left = (capacity() - one_[rank]).count();
      const std::int64_t each = (two[rank] - one_[rank]).count();
      if (left < 0) {
        return fail(ErrorCode::kInfeasible,
                    fmt::format("pipeline rank {} needs {} for a single micro-batch, but {} may be "
                                "used; more stages, tensor parallelism or recomputation would help",
                                rank,
                                to_string(one_[rank]),
                                to_string(capacity())),
                    "plan:/stages");
      }
      const std::int64_t whole = each > 0 ? 1 + left / each : most;
      request_.memory_cap.push_back(std::min(most, whole * request_.shape.virtual_stages));
    }
    return {};
  }

  /// Caps down, where they can still go down.
  bool lower_caps() {
    bool lowered = false;
    for (std::int64_t& cap : request_.memory_cap) {
      const auto lower = std::max<std::int64_t>(
          request_.shape.virtual_stages,
          static_cast<std::int64_t>(std::floor(static_cast<double>(cap) * kLowerTo)));
      lowered = lowered || lower < cap;
      cap = lower;
    }
    return lowered;
  }

  Result<SynthesisedPlan> search(Duration before) {
    Bytes needed{};
    for (int i = 0; i < kMostTries; ++i) {
      SynthesisedPlan made{.plan = plan_, .before = before};
      made.plan.schedule = synth_schedule().name;
      made.plan.schedule_parameters = synth_parameters(request_);
      const Result<Simulated> run = simulated(made.plan);
      if (!run) {
        return tl::unexpected(run.error());
      }
      made.step_time = run->simulation.summary.step_time;
      made.peak_memory = run->simulation.summary.peak_memory;
      if (made.peak_memory <= capacity()) {
        return made;
      }
      needed = made.peak_memory;
      if (!lower_caps()) {
        break;
      }
    }
    return fail(ErrorCode::kInfeasible,
                fmt::format("the order with the least memory needs {}, but {} may be used",
                            to_string(needed),
                            to_string(capacity())),
                "plan:/schedule");
  }

  const ModelGraph& model_;
  const Cluster& cluster_;
  const CostModel& cost_;
  const Plan& plan_;
  double memory_share_;
  SynthesisRequest request_;
  std::vector<Bytes> one_;  ///< by pipeline rank: peak with one micro-batch
};

}  // namespace

Result<SynthesisedPlan> synthesise_plan(const ModelGraph& model,
                                        const Cluster& cluster,
                                        const CostModel& cost,
                                        const Plan& plan,
                                        double memory_share,
                                        std::int64_t effort) {
  return PlanSynthesis(model, cluster, cost, plan, memory_share).run(effort);
}

}  // namespace stagewright
