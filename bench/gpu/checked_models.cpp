#include "checked_models.h"

#include <fmt/format.h>

#include "core/base/data_files.h"
#include "core/cluster/cluster.h"
#include "core/model/transformer.h"
#include "planner/lower/lower.h"

namespace stagewright::gpu_check {

namespace {

[[nodiscard]] TransformerShape shape_of(const ModelSizes& sizes) {
  TransformerShape shape;
  shape.layers = sizes.layers;
  shape.hidden = sizes.hidden;
  shape.heads = sizes.heads;
  shape.kv_heads = sizes.kv_heads;
  shape.head_dim = sizes.hidden / sizes.heads;
  shape.feed_forward = sizes.feed_forward;
  shape.vocabulary = sizes.vocabulary;
  shape.max_sequence = sizes.sequence;
  return shape;
}

}  // namespace

Result<ModelGraph> gpt_model(const ModelSizes& sizes) {
  return make_transformer("gpt-like", "gpt2", shape_of(sizes));
}

Result<ModelGraph> llama_model(const ModelSizes& sizes) {
  TransformerShape shape = shape_of(sizes);
  shape.norm = OpVariant::kRmsNorm;
  shape.activation = OpVariant::kSwiGlu;
  shape.learned_positions = false;
  shape.biases = false;
  shape.qkv_bias = false;
  shape.tied_embeddings = false;
  return make_transformer("llama-like", "llama", shape);
}

Result<Schedule> lower_for_check(const ModelGraph& model, const Division& division) {
  Plan plan;
  plan.model = model.name;
  plan.stages = even_stages(static_cast<std::int32_t>(model.layers.size()),
                            division.pp * division.virtual_stages,
                            division.dp,
                            division.tp);
  plan.virtual_stages = division.virtual_stages;
  plan.cluster = fmt::format("1x{}xcpu", division.dp * division.tp * division.pp);
  plan.sequence = static_cast<std::int32_t>(model.shape.max_sequence);
  plan.micro_batch_size = division.micro_batch_size;
  plan.micro_batches = division.micro_batches;
  plan.schedule = division.schedule;
  plan.zero_stage = division.zero;
  plan.sequence_parallel = division.sequence_parallel;
  plan.precision = {.compute = division.precision};
  auto cluster = find_cluster(DataFiles::embedded(), plan.cluster);
  if (!cluster) {
    return pass_on(std::move(cluster));
  }
  return lower(model, *cluster, plan);
}

}  // namespace stagewright::gpu_check
