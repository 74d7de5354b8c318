// One prediction of a plan's step time after set-up, in closed form (GPT-3 175B on 256 A100) and by
// the static simulation of its pipeline order (16 ranks, 128 micro-batches).

#include "sim/step/step_time.h"

#include <vector>

#include <benchmark/benchmark.h>

#include "core/base/data_files.h"
#include "memory_setups.h"
#include "planner/schedules/registry.h"
#include "sim/engine/pipeline_timing.h"
#include "sim/memory/step_memory.h"

namespace stagewright {
namespace {

TrainingSetup setup() {
  TrainingSetup result = setup_with("megatron");
  TrainingRun& run = result.run;
  run = gpt_run(96, 12288, 96);
  run.dp = 8;
  run.tp = 8;
  run.pp = 4;
  run.micro_batches = 192;
  run.recompute = Recompute::kFull;
  return result;
}

void predict_time(benchmark::State& state) {
  const TrainingSetup run = setup();
  const StepConstants constants = *load_step_constants(DataFiles::embedded());
  for (auto _ : state) {
    benchmark::DoNotOptimize(step_time(run, constants));
  }
}
BENCHMARK(predict_time)->Unit(benchmark::kMicrosecond);

void predict_time_and_memory(benchmark::State& state) {
  const TrainingSetup run = setup();
  const DataFiles files = DataFiles::embedded();
  const StepConstants constants = *load_step_constants(files);
  const MemoryConstants memory = *load_memory_constants(files);
  for (auto _ : state) {
    benchmark::DoNotOptimize(step_time(run, constants));
    benchmark::DoNotOptimize(step_memory(run, memory));
  }
}
BENCHMARK(predict_time_and_memory)->Unit(benchmark::kMicrosecond);

PipelineOrder deep_pipeline() {
  return find_schedule("1f1b")
      ->generate({.ranks = 16, .virtual_stages = 1, .micro_batches = 128, .parameters = {}})
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

/// The order is compiled once, as where a planner prices one schedule for many plans.
void simulate_statically(benchmark::State& state) {
  const PipelineOrder order = deep_pipeline();
  const PipelineCosts costs = costs_of(order);
  const PipelineTimer timer = PipelineTimer::make(order).value();
  PipelineTimer::Scratch scratch;
  for (auto _ : state) {
    Duration makespan = timer.makespan(costs, scratch);
    benchmark::DoNotOptimize(makespan);
  }
}
BENCHMARK(simulate_statically)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace stagewright

BENCHMARK_MAIN();
