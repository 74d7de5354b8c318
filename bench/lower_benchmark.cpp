/// How long lowering takes for the models and clusters that a search goes over.

#include "planner/lower/lower.h"

#include <cstdint>
#include <string>

#include <benchmark/benchmark.h>

#include "core/model/transformer.h"

namespace stagewright {
namespace {

Cluster cluster_of(std::int32_t nodes) {
  DeviceType type;
  type.name = "device";
  type.capabilities = {"flash-attention"};
  Cluster cluster;
  cluster.name = "cluster";
  cluster.types = {type};
  cluster.nodes.assign(static_cast<std::size_t>(nodes),
                       Node{.name = "", .devices = std::vector<std::int32_t>(8, 0)});
  return cluster;
}

// Grattafiori et al. 2024, table 3.
ModelGraph llama3_70b() {
  TransformerShape shape;
  shape.layers = 80;
  shape.hidden = 8192;
  shape.heads = 64;
  shape.kv_heads = 8;
  shape.head_dim = 128;
  shape.feed_forward = 28672;
  shape.vocabulary = 128256;
  shape.max_sequence = 8192;
  shape.norm = OpVariant::kRmsNorm;
  shape.activation = OpVariant::kSwiGlu;
  shape.learned_positions = false;
  shape.biases = false;
  shape.qkv_bias = false;
  shape.tied_embeddings = false;
  return make_transformer("llama3-70b", "llama", shape).value();
}

// Brown et al. 2020, table 2.1.
ModelGraph gpt3_175b() {
  TransformerShape shape;
  shape.layers = 96;
  shape.hidden = 12288;
  shape.heads = 96;
  shape.kv_heads = 96;
  shape.head_dim = 128;
  shape.feed_forward = 49152;
  shape.vocabulary = 50257;
  shape.max_sequence = 2048;
  return make_transformer("gpt3-175b", "gpt2", shape).value();
}

Plan plan_of(const ModelGraph& model,
             std::int32_t dp,
             std::int32_t tp,
             std::int32_t pp,
             std::int32_t global_batch) {
  Plan plan;
  plan.stages = even_stages(static_cast<std::int32_t>(model.layers.size()), pp, dp, tp);
  plan.sequence = static_cast<std::int32_t>(model.shape.max_sequence);
  plan.micro_batches = global_batch / dp;
  return plan;
}

void run(benchmark::State& state,
         const ModelGraph& model,
         const Cluster& cluster,
         const Plan& plan) {
  for (auto _ : state) {
    const Result<Schedule> schedule = lower(model, cluster, plan);
    if (!schedule) {
      state.SkipWithError(schedule.error().to_string().c_str());
      return;
    }
    benchmark::DoNotOptimize(schedule->programs.data());
  }
}

void lower_llama3_70b(benchmark::State& state) {
  const ModelGraph model = llama3_70b();
  const auto pp = static_cast<std::int32_t>(state.range(0));
  run(state, model, cluster_of(16), plan_of(model, 16 / pp, 8, pp, 1024));
}
BENCHMARK(lower_llama3_70b)->Arg(1)->Arg(4)->Arg(16)->Unit(benchmark::kMillisecond);

void lower_gpt3_175b(benchmark::State& state) {
  const ModelGraph model = gpt3_175b();
  const auto pp = static_cast<std::int32_t>(state.range(0));
  run(state, model, cluster_of(128), plan_of(model, 128 / pp, 8, pp, 1536));
}
BENCHMARK(lower_gpt3_175b)->Arg(8)->Arg(32)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stagewright

BENCHMARK_MAIN();
