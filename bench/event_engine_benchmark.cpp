/// How many compute actions a second the event engine does, with their transfers, and how long a
/// Monte Carlo run takes.

#include "sim/engine/event_engine.h"

#include <cstdint>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "planner/schedules/registry.h"
#include "sim/engine/monte_carlo.h"
#include "sim/engine/order_events.h"

namespace stagewright {
namespace {

PipelineOrder order_of(const char* schedule,
                       std::int32_t ranks,
                       std::int32_t virtual_stages,
                       std::int32_t micro_batches) {
  return find_schedule(schedule)
      .value()
      .generate({.ranks = ranks,
                 .virtual_stages = virtual_stages,
                 .micro_batches = micro_batches,
                 .parameters = {}})
      .value();
}

std::int64_t actions_of(const PipelineOrder& order) {
  std::int64_t actions = 0;
  for (const auto& rank : order.ranks) {
    actions += static_cast<std::int64_t>(rank.size());
  }
  return actions;
}

/// Uneven stages, and a time of its own for every action.
EventGraph graph_of(const PipelineOrder& order, OrderLinks links) {
  constexpr auto kTransfer = Duration(5'000'000);
  const auto stages = static_cast<std::size_t>(order.stages);
  const std::vector<Duration> none(stages, Duration{});
  EventGraph graph = order_events(order,
                                  {.forward = none,
                                   .backward = none,
                                   .backward_input = none,
                                   .backward_weight = none,
                                   .recompute = none,
                                   .transfer = std::vector<Duration>(stages, kTransfer)},
                                  {.links = links})
                         .value();
  std::mt19937 random(1);
  std::uniform_int_distribution<std::int64_t> time(80'000'000, 120'000'000);
  for (std::size_t node = 0; node < graph.nodes(); ++node) {
    if (graph.kind[node] == EventGraph::Kind::kCompute) {
      graph.alone[node] = Duration(time(random));
    }
  }
  return graph;
}

void run(benchmark::State& state, const char* schedule, OrderLinks links, std::int32_t chunks) {
  const PipelineOrder order = order_of(schedule,
                                       static_cast<std::int32_t>(state.range(0)),
                                       chunks,
                                       static_cast<std::int32_t>(state.range(1)));
  const EventGraph graph = graph_of(order, links);
  EventEngine engine(graph);
  for (auto _ : state) {
    benchmark::DoNotOptimize(engine.run(graph.alone).makespan);
  }
  state.counters["compute actions/s"] = benchmark::Counter(
      static_cast<double>(actions_of(order)), benchmark::Counter::kIsIterationInvariantRate);
}

/// Every message goes through the ports of its ranks and the event queue.
void one_f_one_b_over_ports(benchmark::State& state) {
  run(state, "1f1b", OrderLinks::kPorts, 1);
}
BENCHMARK(one_f_one_b_over_ports)
    ->Args({16, 256})
    ->Args({64, 512})
    ->Args({64, 4096})
    ->Unit(benchmark::kMillisecond);

void zb_v_over_ports(benchmark::State& state) {
  run(state, "zb-v", OrderLinks::kPorts, 2);
}
BENCHMARK(zb_v_over_ports)->Args({16, 256})->Args({64, 512})->Unit(benchmark::kMillisecond);

/// Messages that share nothing take no turn in the queue.
void one_f_one_b_over_free_links(benchmark::State& state) {
  run(state, "1f1b", OrderLinks::kFree, 1);
}
BENCHMARK(one_f_one_b_over_free_links)
    ->Args({16, 256})
    ->Args({64, 512})
    ->Unit(benchmark::kMillisecond);

/// 1,000 samples with 5 % jitter on two threads; CPU time is that of both.
void monte_carlo(benchmark::State& state, OrderLinks links) {
  const EventGraph graph = graph_of(order_of("1f1b", 64, 1, 512), links);
  MonteCarloOptions options;
  options.perturbation.jitter = 0.05;
  options.samples = 1000;
  options.threads = 2;
  for (auto _ : state) {
    benchmark::DoNotOptimize(sample_steps(graph, options).p99);
  }
}
void monte_carlo_over_free_links(benchmark::State& state) {
  monte_carlo(state, OrderLinks::kFree);
}
BENCHMARK(monte_carlo_over_free_links)
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kSecond);
void monte_carlo_over_ports(benchmark::State& state) {
  monte_carlo(state, OrderLinks::kPorts);
}
BENCHMARK(monte_carlo_over_ports)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kSecond);

}  // namespace
}  // namespace stagewright

BENCHMARK_MAIN();
