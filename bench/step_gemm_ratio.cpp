/// Time of a training step over the time of its matrix products alone: the peer GPT (4 layers,
/// width 256, 2,048 tokens, 4,096 words) on one rank, in rounds that take turns. The products are
/// those of the schedule that the step executes, on operands as large and as many; attention's own
/// products count as the step's, not here.
///
///   step_gemm_ratio [--rounds 5] [--steps 4] [--precision fp32|bf16] [--json FILE]
///
/// Wall times; on a machine that does something else too, only the smallest of many rounds means
/// something.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/data_files.h"
#include "core/base/file.h"
#include "core/cluster/cluster.h"
#include "core/model/transformer.h"
#include "need.h"
#include "planner/lower/lower.h"
#include "runtime/compute/cpu_device.h"
#include "runtime/executor/rank_plan.h"
#include "runtime/trainer/sampled_batches.h"
#include "runtime/trainer/trainer.h"

namespace stagewright {
namespace {

struct Settings {
  std::int32_t rounds = 5;
  std::int32_t steps = 4;
  std::string precision = "fp32";
  std::string json;
};

Schedule peer_schedule(DType compute) {
  TransformerShape shape;
  shape.layers = 4;
  shape.hidden = 256;
  shape.heads = 8;
  shape.kv_heads = 8;
  shape.head_dim = 32;
  shape.feed_forward = 1024;
  shape.vocabulary = 4096;
  shape.max_sequence = 256;
  shape.tied_embeddings = false;
  const ModelGraph model = need(make_transformer("peer-gpt", "gpt2", shape));
  Plan plan;
  plan.model = model.name;
  plan.stages = even_stages(static_cast<std::int32_t>(model.layers.size()), 1, 1, 1);
  plan.sequence = 256;
  plan.micro_batch_size = 8;
  plan.micro_batches = 1;
  plan.schedule = "1f1b";
  plan.precision.compute = compute;
  plan.optimizer.clip_norm.reset();
  return need(lower(model, need(find_cluster(DataFiles::embedded(), "1xcpu")), plan));
}

/// The matrix products of a step, with operands of their own.
class Products {
 public:
  explicit Products(const Schedule& schedule) : plan_(need(plan_rank(schedule, RankId(0)))) {
    for (const Instruction& instruction : plan_.instructions) {
      if (instruction.operation != nullptr && instruction.operation->kind == OpKind::kGemm) {
        add(*instruction.operation);
      }
    }
  }

  void run() {
    for (const Product& product : products_) {
      device_->execute({.operation = product.operation,
                        .inputs = product.inputs,
                        .outputs = product.outputs,
                        .input_types = product.input_types,
                        .output_types = product.output_types},
                       {});
    }
  }

 private:
  struct Product {
    const Operation* operation = nullptr;
    std::vector<void*> inputs;
    std::vector<void*> outputs;
    std::vector<OperandType> input_types;
    std::vector<OperandType> output_types;
  };

  void add(const Operation& operation) {
    Product& product = products_.emplace_back();
    product.operation = &operation;
    const auto place =
        [&](TensorId id, std::vector<void*>& places, std::vector<OperandType>& types) {
          const TensorSpec& spec = plan_.program->tensors[id.index()];
          std::vector<std::byte>& memory = memory_[id];
          memory.resize(static_cast<std::size_t>(spec.bytes().count()));
          places.push_back(memory.data());
          types.push_back({spec.dtype, spec.elements()});
        };
    for (const TensorId input : operation.inputs) {
      place(input, product.inputs, product.input_types);
    }
    for (const TensorId output : operation.outputs) {
      place(output, product.outputs, product.output_types);
    }
  }

  RankPlan plan_;
  std::map<TensorId, std::vector<std::byte>> memory_;
  std::vector<Product> products_;
  std::unique_ptr<ComputeDevice> device_ = make_cpu_device();
};

double smallest_step(const Schedule& schedule, const TokenData& data, std::int32_t steps) {
  const SampledBatches batches(data, schedule, 1);
  RunOptions options;
  options.steps = steps + 1;
  options.traced_steps = 0;
  const auto report =
      need(run(std::vector<const Schedule*>(schedule.ranks.size(), &schedule), batches, options));
  const std::vector<Duration>& times = report.trace.step_times;
  return to_seconds(*std::min_element(times.begin() + 1, times.end()));
}

double smallest_products(Products& products, std::int32_t steps) {
  double smallest = 1e9;
  products.run();
  for (std::int32_t i = 0; i < steps; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    products.run();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    smallest = std::min(smallest, took.count());
  }
  return smallest;
}

int compare(const Settings& settings) {
  const Schedule schedule = peer_schedule(need(parse_dtype(settings.precision)));
  TokenData data{"random tokens", {}, 2};
  std::uint32_t state = 1;
  for (int i = 0; i < 65'536; ++i) {
    state = state * 1'664'525 + 1'013'904'223;
    const std::uint32_t token = (state >> 16) % 4096;
    data.bytes.push_back(static_cast<char>(token & 0xFF));
    data.bytes.push_back(static_cast<char>(token >> 8));
  }
  Products products(schedule);
  double step = 1e9;
  double gemm = 1e9;
  for (std::int32_t round = 0; round < settings.rounds; ++round) {
    step = std::min(step, smallest_step(schedule, data, settings.steps));
    gemm = std::min(gemm, smallest_products(products, settings.steps));
  }
  fmt::print("{}: step {:.1f} ms, its matrix products alone {:.1f} ms, ratio {:.2f} (goal 1.35)\n",
             settings.precision,
             1e3 * step,
             1e3 * gemm,
             step / gemm);
  if (!settings.json.empty()) {
    const nlohmann::json json = {{"precision", settings.precision},
                                 {"step_s", step},
                                 {"products_s", gemm},
                                 {"ratio", step / gemm},
                                 {"goal", 1.35}};
    need(write_file(settings.json, json.dump(2) + "\n"));
  }
  return 0;
}

}  // namespace
}  // namespace stagewright

int main(int argc, char** argv) {
  CLI::App app("Time of a step over the time of its matrix products alone");
  stagewright::Settings settings;
  app.add_option("--rounds", settings.rounds)->check(CLI::PositiveNumber);
  app.add_option("--steps", settings.steps)->check(CLI::PositiveNumber);
  app.add_option("--precision", settings.precision)->check(CLI::IsMember({"fp32", "bf16"}));
  app.add_option("--json", settings.json);
  CLI11_PARSE(app, argc, argv);
  return stagewright::compare(settings);
}
