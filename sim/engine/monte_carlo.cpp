#include "sim/engine/monte_carlo.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "core/base/check.h"
#include "sim/engine/sweep_graph.h"

namespace stagewright {
namespace {

/// How samples are timed: in one pass, laid out once for all, unless something contends.
struct Timed {
  const EventGraph& graph;
  const MonteCarloOptions& options;
  std::optional<CompiledGraph> pass;
};

Timed prepare(const EventGraph& graph, const MonteCarloOptions& options) {
  const bool contends = may_contend(graph, options.event);
  return {graph, options, contends ? std::nullopt : std::optional(compile(graph.graph))};
}

/// What one thread simulates samples with.
class Sampler {
 public:
  explicit Sampler(const Timed& timed) : timed_(timed), alone_(timed.graph.nodes()) {
    if (timed.pass) {
      durations_.resize(timed.pass->graph.size());
      ends_.resize(timed.pass->graph.size());
    } else {
      engine_.emplace(timed.graph, timed.options.event);
    }
  }

  [[nodiscard]] Duration step_time(std::size_t sample) {
    perturb(timed_.graph,
            timed_.options.perturbation,
            {.seed = timed_.options.seed, .sample = sample},
            alone_);
    if (engine_) {
      return engine_->makespan(alone_);
    }
    timed_.pass->spread(alone_, durations_);
    sweep(timed_.pass->graph, timed_.pass->lags, durations_, ends_);
    return *std::ranges::max_element(ends_);
  }

 private:
  const Timed& timed_;
  std::vector<Duration> alone_;      ///< by node
  std::vector<Duration> durations_;  ///< by index of the pass
  std::vector<Duration> ends_;
  std::optional<EventEngine> engine_;
};

}  // namespace

StepSamples statistics_of(std::vector<Duration> times) {
  SW_CHECK(!times.empty(), "at least one sample");
  StepSamples result;
  std::vector<Duration> sorted = times;
  std::ranges::sort(sorted);
  const auto count = static_cast<double>(sorted.size());
  const auto at = [&](double share) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * count));
    return sorted[std::max<std::size_t>(rank, 1) - 1];
  };
  double mean = 0;
  for (const Duration time : sorted) {
    mean += static_cast<double>(time.count()) / count;
  }
  result.times = std::move(times);
  result.mean = Duration(std::llround(mean));
  result.p50 = at(0.50);
  result.p95 = at(0.95);
  result.p99 = at(0.99);
  return result;
}

StepSamples sample_steps(const EventGraph& graph, const MonteCarloOptions& options) {
  SW_CHECK(options.samples >= 1 && options.threads >= 0, "at least one sample");
  std::vector<Duration> times(static_cast<std::size_t>(options.samples));
  const Timed timed = prepare(graph, options);
  tbb::enumerable_thread_specific<Sampler> samplers([&] { return Sampler(timed); });
  // More threads than that would only wait for each other.
  const int most = tbb::info::default_concurrency();
  tbb::task_arena arena(options.threads == 0 ? most : std::min(options.threads, most));
  arena.execute([&] {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, times.size()),
                      [&](const tbb::blocked_range<std::size_t>& range) {
                        Sampler& sampler = samplers.local();
                        for (std::size_t i = range.begin(); i < range.end(); ++i) {
                          times[i] = sampler.step_time(i);
                        }
                      });
  });
  return statistics_of(std::move(times));
}

}  // namespace stagewright
