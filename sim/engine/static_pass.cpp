#include "sim/engine/static_pass.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/analysis/step_graph_work.h"
#include "sim/cost/analytical_compute.h"
#include "sim/engine/like_ranks.h"
#include "sim/engine/predicted_trace.h"
#include "sim/engine/rank_activity.h"
#include "sim/engine/step_graph.h"
#include "sim/memory/memory_timeline.h"

namespace stagewright {
namespace {

/// Element type of the matrix products, whose rate the MFU is measured against.
std::optional<DType> matrix_type(const Schedule& schedule) {
  const auto multiplies = [](const Operation& op) { return class_of(op.kind) == OpClass::kMatrix; };
  for (const RankProgram& program : schedule.programs) {
    for (const StageProgram& stage : program.stages) {
      const auto found = std::ranges::find_if(stage.forward, multiplies);
      if (found != stage.forward.end()) {
        return found->dtype;
      }
    }
  }
  return std::nullopt;
}

FlopsPerSecond peak_of_all(const StepGraph& step, DType type) {
  FlopsPerSecond sum(0);
  for (const ClassWork& work : step.classes) {
    sum += matrix_peak(*work.phases.place.device, type) * static_cast<double>(work.ranks);
  }
  return sum;
}

double measured_share(const StepGraph& step) {
  double all = 0;
  double measured = 0;
  for (const ClassWork& work : step.classes) {
    for (std::size_t action = 0; action < work.actions.size(); ++action) {
      for (const auto& [source, time] : work.phases.of_action(action).by_source) {
        const double weighted = to_seconds(time) * work.ranks;
        all += weighted;
        measured += source == PriceSource::kMeasured ? weighted : 0;
      }
    }
  }
  return all > 0 ? measured / all : 0;
}

class Summarizer {
 public:
  Summarizer(const StepGraph& step, const StepTimes& times) : step_(step), times_(times) {
    summary_.step_time = times.makespan;
  }

  [[nodiscard]] Summary run() && {
    std::int64_t ranks = 0;
    std::map<std::string, double> exposed;  // picoseconds, summed over ranks
    double bubble = 0;
    for (const ClassWork& work : step_.classes) {
      const RankSummary& one = summary_.ranks.emplace_back(summarize(work));
      ranks += one.alike;
      bubble += one.bubble * one.alike;
      for (const auto& [kind, time] : one.exposed) {
        exposed[kind] += static_cast<double>(time.count()) * one.alike;
      }
      summary_.peak_memory = std::max(summary_.peak_memory, one.device_memory);
      summary_.fits = summary_.fits && one.fits;
    }
    summary_.bubble = bubble / static_cast<double>(ranks);
    for (const auto& [kind, time] : exposed) {
      summary_.exposed[kind] = Duration(std::llround(time / static_cast<double>(ranks)));
    }
    summary_.critical_rank = std::ranges::max_element(summary_.ranks, {}, &RankSummary::busy)->rank;
    summary_.measured_share = measured_share(step_);
    return std::move(summary_);
  }

 private:
  [[nodiscard]] RankSummary summarize(const ClassWork& work) {
    RankSummary rank;
    rank.rank = work.rank;
    rank.alike = work.ranks;
    RankActivity activity = rank_activity(step_, times_, work);
    rank.busy = activity.busy;
    rank.exposed = std::move(activity.exposed);
    rank.bubble = bubble_share(rank.busy, times_.makespan);
    rank.memory = peaks_of(*work.program);
    rank.device_memory = device_memory(rank.memory, *work.phases.place.device);
    rank.fits = fits(rank.memory, *work.phases.place.device);
    return rank;
  }

  /// Worked out once per program.
  [[nodiscard]] const MemoryPeaks& peaks_of(const RankProgram& program) {
    const auto [found, is_new] = peaks_.try_emplace(&program);
    if (is_new) {
      found->second = memory_timeline(program).peaks;
    }
    return found->second;
  }

  const StepGraph& step_;
  const StepTimes& times_;
  std::map<const RankProgram*, MemoryPeaks> peaks_;
  Summary summary_;
};

Summary summarize_step(const Schedule& schedule,
                       const StepGraph& step,
                       const StepTimes& times,
                       const SimulationOptions& options) {
  Summary summary = Summarizer(step, times).run();
  if (times.makespan == Duration{}) {
    return summary;
  }
  const double seconds = to_seconds(times.makespan);
  summary.tokens_per_second = static_cast<double>(schedule.replicas) * schedule.micro_batches *
                              schedule.micro_batch_size * schedule.sequence / seconds;
  if (const auto type = matrix_type(schedule); type && options.model_flops) {
    const FlopsPerSecond peak = peak_of_all(step, *type);
    if (peak.count() > 0) {
      summary.mfu = options.model_flops->count() / (seconds * peak.count());
    }
  }
  return summary;
}

}  // namespace

Result<Simulation> simulate(const Schedule& schedule,
                            const Cluster& cluster,
                            const CostModel& cost,
                            const SimulationOptions& options) {
  if (schedule.ranks.empty()) {
    return fail(ErrorCode::kInvalidInput, "the schedule has no ranks");
  }
  const auto geometry = schedule_geometry(schedule, cluster);
  if (!geometry) {
    return fail(geometry.error().code, geometry.error().message, geometry.error().where);
  }
  const RankClasses classes =
      options.representatives ? like_ranks(schedule, cluster, *geometry) : unlike_ranks(schedule);
  const auto step = build_step_graph(
      schedule, cluster, *geometry, classes, cost, {.buffered_sends = options.buffered_sends});
  if (!step) {
    return fail(step.error().code, step.error().message, step.error().where);
  }
  const StepTimes times = time_step(*step);
  Simulation simulation;
  simulation.summary = summarize_step(schedule, *step, times, options);
  if (options.trace != TraceDetail::kNone) {
    simulation.trace = predicted_trace(schedule, classes, *step, times, options);
  }
  if (options.explain) {
    const StepWork work = work_of(*step, times);
    simulation.bubbles = bubble_causes(work);
    simulation.critical_path = critical_path(work);
  }
  return simulation;
}

}  // namespace stagewright
