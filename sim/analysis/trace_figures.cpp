#include "sim/analysis/trace_figures.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/trace/optimizer_waits.h"
#include "sim/analysis/intervals.h"
#include "sim/analysis/order_statistics.h"
#include "sim/analysis/summary.h"

namespace stagewright {
namespace {

/// What one rank did in one step.
struct RankStep {
  std::vector<Interval> actions;     ///< that compute
  std::vector<Interval> operations;  ///< on the compute stream
  bool has_operations = false;       ///< other than those that tell waits of the optimizer step
  std::map<std::string, std::vector<Interval>> communication;
  TimePoint end;
};

bool computes(ActionKind kind) {
  return has_version(kind) || is_optimizer(kind);
}

std::string stream_name(const Trace& trace, StreamId stream) {
  return stream.index() < trace.streams.size() ? trace.streams[stream.index()]
                                               : "stream " + std::to_string(stream.value());
}

void add(const Trace& trace, const OptimizerWaits& waits, const TraceEvent& event, RankStep& step) {
  const Interval interval{event.start, event.end};
  step.end = std::max(step.end, event.end);
  if (!event.op_index) {
    if (computes(event.action)) {
      for (const WorkedStretch& stretch : waits.worked(event)) {
        step.actions.push_back({stretch.start, stretch.end});
      }
    } else if (is_receive(event.action)) {
      step.communication[kPipelineTransfers].push_back(interval);
    }
  } else if (event.stream == kComputeStream) {
    step.operations.push_back(interval);
    step.has_operations |= !is_optimizer(event.action);
  } else {
    step.communication[stream_name(trace, event.stream)].push_back(interval);
  }
}

MemoryPeaks memory_of(const Trace& trace, RankId rank) {
  MemoryPeaks peaks;
  for (const MemorySample& sample : trace.memory) {
    if (sample.rank == rank && counts(trace, sample.step)) {
      for (std::size_t i = 0; i < sample.live.size(); ++i) {
        peaks.by_class[i] = std::max(peaks.by_class[i], sample.live[i]);
      }
      peaks.total =
          std::max(peaks.total, std::accumulate(sample.live.begin(), sample.live.end(), Bytes{}));
    }
  }
  return peaks;
}

/// Medians over steps; a kind of communication that a step lacks counts as zero there.
RankFigures figures_of(const std::map<std::int32_t, RankStep>& steps) {
  std::vector<Duration> busy;
  std::vector<Duration> computing;
  std::vector<Duration> ends;
  std::map<std::string, std::vector<Duration>> exposed;
  for (const auto& [number, step] : steps) {
    busy.push_back(length_of(united(step.actions)));
    ends.push_back(step.end.time_since_epoch());
    const std::vector<Interval> cover =
        step.has_operations ? united(step.operations) : std::vector<Interval>{};
    computing.push_back(length_of(cover));
    if (!cover.empty()) {
      for (const auto& [kind, intervals] : step.communication) {
        exposed[kind].push_back(length_outside(united(intervals), cover));
      }
    }
  }
  RankFigures figures;
  figures.busy = median(std::move(busy));
  figures.computing = median(std::move(computing));
  figures.end = median(std::move(ends));
  for (auto& [kind, times] : exposed) {
    times.resize(steps.size());
    figures.exposed[kind] = median(times);
  }
  return figures;
}

}  // namespace

bool counts(const Trace& trace, std::int32_t step) {
  return step > 0 || trace.steps <= 1;
}

std::vector<Duration> counted_step_times(const Trace& trace) {
  std::vector<Duration> times = trace.step_times;
  if (times.size() > 1) {
    times.erase(times.begin());
  }
  return times;
}

std::map<RankId, RankFigures> rank_figures(const Trace& trace) {
  const OptimizerWaits waits(trace);
  std::map<RankId, std::map<std::int32_t, RankStep>> ranks;
  for (const TraceEvent& event : trace.events) {
    if (counts(trace, event.step)) {
      add(trace, waits, event, ranks[event.rank][event.step]);
    }
  }
  std::map<RankId, RankFigures> figures;
  for (const auto& [rank, steps] : ranks) {
    figures[rank] = figures_of(steps);
    figures[rank].memory = memory_of(trace, rank);
  }
  return figures;
}

}  // namespace stagewright
