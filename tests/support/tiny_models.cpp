#include "tests/support/tiny_models.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/model/transformer.h"

namespace stagewright {
namespace {

TransformerShape tiny_shape(std::int64_t blocks) {
  TransformerShape shape;
  shape.layers = blocks;
  shape.hidden = 16;
  shape.heads = 4;
  shape.kv_heads = 4;
  shape.head_dim = 4;
  shape.feed_forward = 64;
  shape.vocabulary = 30;
  shape.max_sequence = 8;
  return shape;
}

ModelGraph build(const std::string& name, const TransformerShape& shape) {
  Result<ModelGraph> model = make_transformer(name, "test", shape);
  SW_CHECK(model.has_value(), "a shape that builds");
  return *std::move(model);
}

Cluster cluster_of(const std::string& name,
                   std::int32_t nodes,
                   std::int32_t devices,
                   const std::string& capability) {
  DeviceType type;
  type.name = name;
  type.capabilities = {capability};
  Cluster cluster;
  cluster.name = fmt::format("{}x{}x{}", nodes, devices, name);
  cluster.types = {type};
  cluster.nodes.assign(
      static_cast<std::size_t>(nodes),
      Node{.name = "", .devices = std::vector<std::int32_t>(static_cast<std::size_t>(devices), 0)});
  return cluster;
}

}  // namespace

ModelGraph tiny_gpt(std::int64_t blocks) {
  return build("tiny-gpt", tiny_shape(blocks));
}

ModelGraph tiny_llama(std::int64_t blocks) {
  TransformerShape shape = tiny_shape(blocks);
  shape.kv_heads = 2;
  shape.norm = OpVariant::kRmsNorm;
  shape.activation = OpVariant::kSwiGlu;
  shape.learned_positions = false;
  shape.biases = false;
  shape.qkv_bias = false;
  shape.tied_embeddings = false;
  return build("tiny-llama", shape);
}

Cluster cpu_cluster(std::int32_t devices) {
  return cluster_of("cpu", 1, devices, "blockwise-attention");
}

Cluster gpu_cluster(std::int32_t nodes) {
  return cluster_of("gpu", nodes, 8, "flash-attention");
}

Plan plan_of(const ModelGraph& model, Degrees degrees, std::int32_t micro_batches) {
  Plan plan;
  plan.model = model.name;
  plan.stages = even_stages(
      static_cast<std::int32_t>(model.layers.size()), degrees.pp, degrees.dp, degrees.tp);
  plan.sequence = 8;
  plan.micro_batches = micro_batches;
  plan.precision.compute = DType::kFloat32;
  return plan;
}

}  // namespace stagewright
