// How long the planner takes for whole spaces, as `stagewright plan` searches them, and how many
// complete plans it prices in a second.

#include "planner/search/search.h"

#include <memory>

#include <benchmark/benchmark.h>

#include "core/base/data_files.h"
#include "formats/model_file.h"
#include "planner/search/closed_form.h"
#include "planner/search/space.h"
#include "sim/cost/calibrated_cost.h"

namespace stagewright {
namespace {

struct Job {
  const char* model;
  const char* cluster;
  std::int64_t global_batch;
  std::int32_t sequence;
};

SearchRequest request_of(const Job& job) {
  const DataFiles files = DataFiles::embedded();
  SearchRequest request;
  request.global_batch = job.global_batch;
  request.sequence = job.sequence;
  request.gap = 0.01;
  request.most_simulated = 16;
  request.step_prices = StepPrices{find_framework(files, "stagewright").value(),
                                   load_step_constants(files).value(),
                                   load_memory_constants(files).value()};
  return request;
}

std::unique_ptr<CostModel> cost_model() {
  const DataFiles files = DataFiles::embedded();
  return make_calibrated_cost(load_step_constants(files).value(),
                              find_framework(files, "stagewright").value());
}

/// A whole search on `state.range(0)` threads.
void search_plans(benchmark::State& state, const Job& job) {
  const DataFiles files = DataFiles::embedded();
  const ModelGraph model = find_model(files, job.model).value();
  const Cluster cluster = find_cluster(files, job.cluster).value();
  const std::unique_ptr<CostModel> cost = cost_model();
  SearchRequest request = request_of(job);
  request.threads = static_cast<std::int32_t>(state.range(0));
  SearchResult result;
  for ([[maybe_unused]] auto unused : state) {
    result = search(model, cluster, *cost, request).value();
  }
  state.counters["points"] = static_cast<double>(result.space.size);
  state.counters["evaluated"] = static_cast<double>(result.space.evaluated);
  state.counters["simulated"] = static_cast<double>(result.simulated);
  state.counters["gap_percent"] = 100 * result.gap;
  state.counters["step_s"] = to_seconds(result.plans.front().step_time);
}

void searches(const char* name, const Job& job, std::int64_t threads) {
  benchmark::RegisterBenchmark(name, search_plans, job)
      ->Arg(threads)
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime()
      ->MeasureProcessCPUTime();
}

/// Complete plans priced, time and memory, one by one: every point of a part of the space.
void evaluate_plans(benchmark::State& state) {
  const Job job{"gpt3-175b", "128x8xa100-80gb-sxm", 1536, 2048};
  const DataFiles files = DataFiles::embedded();
  const ModelGraph model = find_model(files, job.model).value();
  const Cluster cluster = find_cluster(files, job.cluster).value();
  const std::unique_ptr<CostModel> cost = cost_model();
  SearchRequest request = request_of(job);
  request.step_prices.reset();
  request.constraints =
      parse_constraints("tp=8 pp=8 devices=1024 micro-batch=1..4 recompute=none,full").value();
  const Plan common = common_plan(model, cluster, request);
  const GroupPlaces places(cluster);
  CostCache costs(model, cluster, *cost, common, places);
  const DeviceType& device = cluster.types.front();
  ClosedForm closed_form({.model = &model,
                          .cluster = &cluster,
                          .cost = cost.get(),
                          .places = &places,
                          .costs = &costs,
                          .capacity = device.memory - device.context,
                          .context = device.context});
  std::vector<PlanPoint> points;
  for_each_point(space_job(model, cluster, request), [&](const PlanPoint& point) {
    points.push_back(point);
    return true;
  });
  for (const PlanPoint& point : points) {
    benchmark::DoNotOptimize(closed_form.whole(point, Duration{}).bound.time);
  }
  std::int64_t evaluated = 0;
  for ([[maybe_unused]] auto unused : state) {
    for (const PlanPoint& point : points) {
      benchmark::DoNotOptimize(closed_form.whole(point, Duration{}).bound.time);
    }
    evaluated += static_cast<std::int64_t>(points.size());
  }
  state.SetItemsProcessed(evaluated);
}
BENCHMARK(evaluate_plans)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stagewright

int main(int argc, char** argv) {
  using stagewright::searches;
  searches("gpt3_175b_on_64x8", {"gpt3-175b", "64x8xa100-80gb-sxm", 1536, 2048}, 2);
  searches("gpt3_175b_on_128x8", {"gpt3-175b", "128x8xa100-80gb-sxm", 1536, 2048}, 2);
  searches("gpt3_175b_on_512x8", {"gpt3-175b", "512x8xa100-80gb-sxm", 1536, 2048}, 2);
  searches("llama3_70b_on_16x8", {"llama3-70b", "16x8xh100-sxm", 1024, 8192}, 2);
  searches("llama3_405b_on_2048x8", {"llama3-405b", "2048x8xh100-sxm", 2048, 8192}, 2);
  searches("llama3_405b_on_12500x8", {"llama3-405b", "12500x8xh100-sxm", 12500, 8192}, 2);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
