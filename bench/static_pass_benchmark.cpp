/// The static pass over a bare pipeline order: P = 64, M = 4096, V = 2, another random cost for
/// every action, transfers between ranks.
///
/// An action is a forward or a backward (with split backwards an input half or a weight half) of
/// one stage and micro-batch.  Transfers are lags of edges and not counted.  Lists are compiled
/// once and timed again and again with the durations in a vector of 64-bit picoseconds; the result
/// is the end of every action.  Counters:
///   actions/s       actions timed per second of processor time
///   B/action        bytes that are allocated while the pass runs: graph, map from the lists to it,
///                   durations, ends, tables of classes; counted by the allocator
///   peak B/action   most that was allocated at once from before the compilation until the pass is
///                   over, the list that is compiled apart
///   list B/action   that list

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "planner/schedules/registry.h"
#include "sim/engine/pipeline_timing.h"

namespace {

std::int64_t live_bytes = 0;
std::int64_t peak_bytes = 0;

}  // namespace

// Not inlined: compilers that see malloc behind a new warn of the delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  live_bytes += static_cast<std::int64_t>(malloc_usable_size(memory));
  peak_bytes = std::max(peak_bytes, live_bytes);
  return memory;
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
  live_bytes -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}

namespace stagewright {
namespace {

PipelineOrder order_of(const char* schedule) {
  return find_schedule(schedule)
      ->generate({.ranks = 64, .virtual_stages = 2, .micro_batches = 4096, .parameters = {}})
      .value();
}

PipelineCosts costs_of(const PipelineOrder& order) {
  const std::vector<Duration> each(static_cast<std::size_t>(order.stages), Duration(1'000'000'000));
  return {.forward = each,
          .backward = each,
          .backward_input = each,
          .backward_weight = each,
          .recompute = each,
          .transfer = std::vector<Duration>(each.size(), Duration(50'000'000))};
}

/// Around 1 ms, each its own.
std::vector<Duration> random_durations(const PipelineGraph& graph) {
  std::mt19937_64 random(42);
  std::uniform_int_distribution<std::int64_t> length(500'000'000, 1'500'000'000);
  std::vector<Duration> durations(graph.graph.size());
  for (const SweepIndex index : graph.index) {
    durations[static_cast<std::size_t>(index)] = Duration(length(random));
  }
  return durations;
}

void count(benchmark::State& state, std::size_t actions) {
  state.counters["actions/s"] = benchmark::Counter(static_cast<double>(actions),
                                                   benchmark::Counter::kIsIterationInvariantRate);
  state.counters["actions"] = static_cast<double>(actions);
}

double per_action(std::int64_t bytes, std::size_t actions) {
  return static_cast<double>(bytes) / static_cast<double>(actions);
}

void time_every_action(benchmark::State& state, const char* schedule) {
  const std::int64_t before_list = live_bytes;
  const PipelineOrder order = order_of(schedule);
  const PipelineCosts costs = costs_of(order);
  const std::int64_t before = live_bytes;
  peak_bytes = live_bytes;
  const PipelineGraph graph = compile(order).value();
  std::vector<Duration> lags;
  price_lags(graph, costs, lags);
  const std::vector<Duration> durations = random_durations(graph);
  std::vector<Duration> ends(graph.graph.size());
  for ([[maybe_unused]] auto unused : state) {
    sweep(graph.graph, lags, durations, ends);
    benchmark::DoNotOptimize(ends.data());
    benchmark::ClobberMemory();
  }
  const std::size_t actions = graph.index.size();
  count(state, actions);
  state.counters["B/action"] = per_action(live_bytes - before, actions);
  state.counters["peak B/action"] = per_action(peak_bytes - before, actions);
  state.counters["list B/action"] = per_action(before - before_list, actions);
}

/// With one cost for every stage and kind, as where a planner compares orders: the makespan.
void time_by_stage(benchmark::State& state, const char* schedule) {
  const PipelineOrder order = order_of(schedule);
  const PipelineCosts costs = costs_of(order);
  const PipelineTimer timer = PipelineTimer::make(order).value();
  PipelineTimer::Scratch scratch;
  for ([[maybe_unused]] auto unused : state) {
    Duration makespan = timer.makespan(costs, scratch);
    benchmark::DoNotOptimize(makespan);
  }
  count(state, timer.graph().index.size());
}

void compile_list(benchmark::State& state, const char* schedule) {
  const PipelineOrder order = order_of(schedule);
  std::size_t actions = 0;
  for ([[maybe_unused]] auto unused : state) {
    const PipelineGraph graph = compile(order).value();
    actions = graph.index.size();
    benchmark::DoNotOptimize(graph.index.data());
  }
  count(state, actions);
}

BENCHMARK_CAPTURE(time_every_action, interleaved, "interleaved-1f1b")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(time_every_action, zb_v, "zb-v")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(time_every_action, looped_bfs, "looped-bfs")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(time_by_stage, interleaved, "interleaved-1f1b")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile_list, interleaved, "interleaved-1f1b")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stagewright

BENCHMARK_MAIN();
