#include "planner/search/search.h"

#include <memory>

#include <benchmark/benchmark.h>

#include "core/base/data_files.h"
#include "formats/model_file.h"

namespace stagewright {
namespace {

/// A whole search as `stagewright plan` runs it, on one thread.
void search_plans(benchmark::State& state,
                  const char* model_name,
                  const char* cluster_name,
                  std::int64_t global_batch,
                  std::int32_t sequence) {
  const DataFiles files = DataFiles::embedded();
  const ModelGraph model = find_model(files, model_name).value();
  const Cluster cluster = find_cluster(files, cluster_name).value();
  const std::unique_ptr<CostModel> cost = make_analytical_cost();
  SearchRequest request;
  request.global_batch = global_batch;
  request.sequence = sequence;
  std::int64_t evaluated = 0;
  for ([[maybe_unused]] auto unused : state) {
    const auto result = search(model, cluster, *cost, request);
    evaluated += result.value().evaluated;
    benchmark::DoNotOptimize(evaluated);
  }
  state.counters["points"] =
      benchmark::Counter(static_cast<double>(evaluated), benchmark::Counter::kAvgIterations);
}

BENCHMARK_CAPTURE(search_plans, llama3_70b_on_16x8, "llama3-70b", "16x8xh100-sxm", 1024, 8192)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search_plans, gpt3_175b_on_128x8, "gpt3-175b", "128x8xa100-80gb-sxm", 1536, 2048)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stagewright

BENCHMARK_MAIN();
