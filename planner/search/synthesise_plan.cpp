#include "planner/search/synthesise_plan.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/schedule/lifetimes.h"
#include "planner/lower/lower.h"
#include "planner/schedules/synthesis/synth_schedule.h"
#include "planner/search/rank_place.h"
#include "sim/cost/phase_price.h"
#include "sim/engine/static_pass.h"

namespace stagewright {
namespace {

/// How often caps are lowered before giving up, and to which share.
constexpr int kMostTries = 16;
constexpr double kLowerTo = 0.92;

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
    return search(before->simulation.summary);
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

  /// One micro-batch through the plan's stages by another schedule.
  [[nodiscard]] Result<Simulated> probe(const std::string& schedule) const {
    Plan plan = plan_;
    plan.schedule = schedule;
    plan.schedule_parameters.clear();
    plan.micro_batches = 1;
    plan.flushes = 1;
    return simulated(plan);
  }

  /// The longest that a message of a stage takes, by stage.
  [[nodiscard]] std::vector<Duration> transfer_times(const Simulated& probe) const {
    std::vector<Duration> times(plan_.stages.size());
    for (const TraceEvent& event : probe.simulation.trace.events) {
      if (!event.op_index && event.action == ActionKind::kSendActivation) {
        Duration& time = times[event.stage.index()];
        time = std::max(time, event.end - event.start);
      }
    }
    return times;
  }

  /// What the actions of some kinds take alone on their rank, by stage: an action in a simulated
  /// step may also wait for another rank.
  Result<void> price(const Simulated& probe,
                     std::initializer_list<std::pair<ActionKind, std::vector<Duration>*>> kinds) {
    for (const auto& [kind, times] : kinds) {
      times->assign(plan_.stages.size(), Duration{});
    }
    std::vector<bool> seen(probe.schedule.programs.size());
    for (std::size_t rank = 0; rank < probe.schedule.ranks.size(); ++rank) {
      const ProgramId id = probe.schedule.ranks[rank].program;
      if (seen[id.index()]) {
        continue;
      }
      seen[id.index()] = true;
      const Result<RankPlace> place = place_of(probe.schedule, cluster_, RankId(rank), cost_);
      if (!place) {
        return tl::unexpected(place.error());
      }
      const RankProgram& program = probe.schedule.programs[id.index()];
      for (const Action& action : program.actions) {
        for (const auto& [kind, times] : kinds) {
          if (action.kind == kind) {
            (*times)[action.stage.index()] =
                price_phase(program, operations_of(program, action), *place, cost_).compute;
          }
        }
      }
    }
    return {};
  }

  /// Costs, and the memory that a rank needs beside what micro-batches hold.
  Result<void> measure_wholes() {
    const Result<Simulated> run = probe("looped-bfs");
    if (!run) {
      return tl::unexpected(run.error());
    }
    request_.costs.transfer = transfer_times(*run);
    if (Result<void> priced = price(*run,
                                    {{ActionKind::kForward, &request_.costs.forward},
                                     {ActionKind::kBackward, &request_.costs.backward},
                                     {ActionKind::kRecompute, &request_.costs.recompute}});
        !priced) {
      return priced;
    }
    peaks_.resize(run->schedule.programs.size());
    for (const RankSummary& rank : run->simulation.summary.ranks) {
      Bytes& peak = peaks_[run->schedule.ranks[rank.rank.index()].program.index()];
      peak = std::max(peak, rank.device_memory);
    }
    return {};
  }

  Result<void> measure_halves() {
    const Result<Simulated> run = probe("interleaved-zero-bubble");
    if (!run) {
      return tl::unexpected(run.error());
    }
    if (Result<void> priced =
            price(*run,
                  {{ActionKind::kBackwardInput, &request_.costs.backward_input},
                   {ActionKind::kBackwardWeight, &request_.costs.backward_weight}});
        !priced) {
      return priced;
    }
    for (auto* held :
         {&request_.held, &request_.checkpoint, &request_.released, &request_.pending}) {
      held->resize(plan_.stages.size());
    }
    for (const RankProgram& program : run->schedule.programs) {
      for (const Lifetime& lifetime : lifetimes(program)) {
        if (lifetime.micro_batch) {
          count(program, lifetime);
        }
      }
    }
    return {};
  }

  /// Adds a tensor of a micro-batch to what its stage holds.
  void count(const RankProgram& program, const Lifetime& lifetime) {
    const auto action = [&program](const ProgramPoint& point) -> const Action& {
      return program.actions[static_cast<std::size_t>(point.action)];
    };
    const ActionKind first = action(lifetime.first).kind;
    const ActionKind last = action(lifetime.last).kind;
    const std::size_t stage = action(lifetime.first).stage.index();
    const std::int64_t bytes = lifetime.bytes.count();
    const bool from_forward = first == ActionKind::kForward ||
                              first == ActionKind::kLoadMicroBatch ||
                              first == ActionKind::kRecvActivation;
    if (last != ActionKind::kBackwardInput && last != ActionKind::kBackwardWeight) {
      return;
    }
    if (from_forward || first == ActionKind::kRecompute) {
      request_.held[stage] += bytes;
      request_.checkpoint[stage] += from_forward ? bytes : 0;
      request_.released[stage] += last == ActionKind::kBackwardInput ? bytes : 0;
    } else if (last == ActionKind::kBackwardWeight && first != ActionKind::kBackwardWeight) {
      request_.pending[stage] += bytes;
    }
  }

  [[nodiscard]] Bytes capacity() const {
    Bytes least = cluster_.types.front().memory;
    for (const DeviceType& type : cluster_.types) {
      least = std::min(least, type.memory);
    }
    return Bytes(static_cast<std::int64_t>(static_cast<double>(least.count()) * memory_share_));
  }

  Result<void> measure_caps() {
    for (std::size_t rank = 0; rank < peaks_.size(); ++rank) {
      if (peaks_[rank] > capacity()) {
        return fail(ErrorCode::kInfeasible,
                    fmt::format("pipeline rank {} needs {} for a single micro-batch, but {} may be "
                                "used; more stages, tensor parallelism or recomputation would help",
                                rank,
                                to_string(peaks_[rank]),
                                to_string(capacity())),
                    "plan:/stages");
      }
      const std::int64_t one = held_on(rank);
      least_caps_.push_back(one);
      request_.memory_cap.push_back((capacity() - peaks_[rank]).count() + one);
    }
    return {};
  }

  /// By one micro-batch on all stages of a rank, in a loop.
  [[nodiscard]] std::int64_t held_on(std::size_t rank) const {
    std::int64_t held = 0;
    for (std::size_t stage = rank; stage < request_.held.size(); stage += peaks_.size()) {
      held += request_.held[stage];
    }
    return held;
  }

  /// Caps down, where they can still go down.
  bool lower_caps() {
    bool lowered = false;
    for (std::size_t rank = 0; rank < least_caps_.size(); ++rank) {
      std::int64_t& cap = request_.memory_cap[rank];
      const auto lower = std::max(least_caps_[rank],
                                  static_cast<std::int64_t>(static_cast<double>(cap) * kLowerTo));
      lowered = lowered || lower < cap;
      cap = lower;
    }
    return lowered;
  }

  [[nodiscard]] SynthesisedPlan unchanged(const Summary& before) const {
    return {.plan = plan_,
            .step_time = before.step_time,
            .peak_memory = before.peak_memory,
            .before = before.step_time,
            .memory_before = before.peak_memory};
  }

  Result<SynthesisedPlan> search(const Summary& before) {
    Bytes needed{};
    for (int i = 0; i < kMostTries; ++i) {
      SynthesisedPlan made{
          .plan = plan_, .before = before.step_time, .memory_before = before.peak_memory};
      made.plan.schedule = synth_schedule().name;
      made.plan.schedule_parameters = synth_parameters(request_);
      const Result<Simulated> run = simulated(made.plan);
      if (!run) {
        return tl::unexpected(run.error());
      }
      made.step_time = run->simulation.summary.step_time;
      made.peak_memory = run->simulation.summary.peak_memory;
      if (made.peak_memory <= capacity()) {
        return before.peak_memory <= capacity() && before.step_time <= made.step_time
                   ? unchanged(before)
                   : made;
      }
      needed = made.peak_memory;
      if (!lower_caps()) {
        break;
      }
    }
    if (before.peak_memory <= capacity()) {
      return unchanged(before);
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
  std::vector<Bytes> peaks_;              ///< by pipeline rank, with one micro-batch
  std::vector<std::int64_t> least_caps_;  ///< what one micro-batch holds
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
