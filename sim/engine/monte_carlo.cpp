#include "sim/engine/monte_carlo.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "core/base/check.h"

namespace stagewright {
namespace {

/// What one thread simulates samples with.
class Sampler {
 public:
  Sampler(const EventGraph& graph, const MonteCarloOptions& options)
      : graph_(graph), options_(options), alone_(graph.nodes()) {
    if (may_contend(graph, options.event)) {
      engine_.emplace(graph, options.event);
    } else {
      starts_.resize(graph.nodes());
    }
  }

  [[nodiscard]] Duration step_time(std::size_t sample) {
    perturb(graph_, options_.perturbation, {options_.seed, sample}, alone_);
    if (engine_) {
      return engine_->run(alone_).makespan;
    }
    time_actions(graph_.graph, alone_, starts_);
    Duration last{};
    for (std::size_t node = 0; node < alone_.size(); ++node) {
      last = std::max(last, starts_[node] + alone_[node]);
    }
    return last;
  }

 private:
  const EventGraph& graph_;
  const MonteCarloOptions& options_;
  std::vector<Duration> alone_;
  std::vector<Duration> starts_;
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
  tbb::enumerable_thread_specific<Sampler> samplers([&] { return Sampler(graph, options); });
  tbb::task_arena arena(options.threads == 0 ? tbb::task_arena::automatic : options.threads);
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
