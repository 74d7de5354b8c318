#include "sim/analysis/summary.h"

#include <algorithm>
#include <utility>

#include "sim/analysis/order_statistics.h"
#include "sim/analysis/trace_figures.h"

namespace stagewright {
namespace {

/// Means over the ranks, and the extremes.
void add_overall(Summary& summary) {
  if (summary.ranks.empty()) {
    return;
  }
  const auto ranks = static_cast<std::int64_t>(summary.ranks.size());
  for (const RankSummary& rank : summary.ranks) {
    summary.bubble += rank.bubble / static_cast<double>(ranks);
    for (const auto& [kind, time] : rank.exposed) {
      summary.exposed[kind] += time;
    }
    summary.peak_memory = std::max(summary.peak_memory, rank.device_memory);
  }
  for (auto& [kind, time] : summary.exposed) {
    time /= ranks;
  }
  summary.critical_rank = std::ranges::max_element(summary.ranks, {}, &RankSummary::busy)->rank;
}

}  // namespace

double bubble_share(Duration busy, Duration step_time) {
  return step_time > Duration{} ? 1 - to_seconds(busy) / to_seconds(step_time) : 0;
}

Summary summarize(const Trace& trace, const SummaryContext& context) {
  Summary summary;
  if (const std::vector<Duration> times = counted_step_times(trace); !times.empty()) {
    summary.step_time = median(times);
  }
  for (const auto& [rank, figures] : rank_figures(trace)) {
    RankSummary one;
    one.rank = rank;
    one.busy = figures.busy;
    one.bubble = bubble_share(figures.busy, summary.step_time);
    one.exposed = figures.exposed;
    one.memory = figures.memory;
    one.device_memory = figures.memory.total;
    summary.ranks.push_back(std::move(one));
  }
  add_overall(summary);
  summary.measured_share = trace.measured ? 1 : 0;
  if (summary.step_time > Duration{}) {
    const double seconds = to_seconds(summary.step_time);
    summary.tokens_per_second = static_cast<double>(trace.tokens_per_step) / seconds;
    if (context.model_flops && context.peak) {
      summary.mfu = context.model_flops->count() / (seconds * context.peak->count());
    }
  }
  return summary;
}

}  // namespace stagewright
