#include "sim/engine/pipeline_timing.h"

#include <numeric>
#include <utility>

namespace stagewright {

Result<PipelineTimer> PipelineTimer::make(const PipelineOrder& order) {
  auto graph = compile(order);
  if (!graph) {
    return pass_on(std::move(graph));
  }
  return PipelineTimer(*std::move(graph));
}

Duration PipelineTimer::makespan(const PipelineCosts& costs, Scratch& scratch) const {
  price(graph_, costs, scratch.prices);
  price_lags(graph_, costs, scratch.lags);
  scratch.ends.resize(graph_.graph.size());
  sweep_by_class(graph_.graph, scratch.lags, scratch.prices, scratch.ends);
  return graph_.makespan(scratch.ends);
}

PipelineTimer::Timing PipelineTimer::time(const PipelineCosts& costs) const {
  Scratch scratch;
  Timing timing;
  timing.makespan = makespan(costs, scratch);
  for (std::size_t rank = 0; rank < graph_.ranks(); ++rank) {
    std::vector<Duration> starts;
    std::vector<Duration> ends;
    Duration busy{};
    SweepIndex before = 0;
    for (const SweepIndex index : graph_.of_rank(rank)) {
      const auto i = static_cast<std::size_t>(index);
      const Duration length = scratch.prices[graph_.graph.work[i]];
      starts.push_back(scratch.ends[i] - length);
      ends.push_back(scratch.ends[i]);
      busy += index == before ? Duration{} : length;  // the second of a pair has its index
      before = index;
    }
    timing.start.push_back(std::move(starts));
    timing.end.push_back(std::move(ends));
    timing.busy.push_back(busy);
  }
  return timing;
}

double PipelineTimer::Timing::bubble() const {
  if (makespan == Duration{} || busy.empty()) {
    return 0;
  }
  const Duration sum = std::accumulate(busy.begin(), busy.end(), Duration{});
  return 1 - to_seconds(sum) / (to_seconds(makespan) * static_cast<double>(busy.size()));
}

}  // namespace stagewright
