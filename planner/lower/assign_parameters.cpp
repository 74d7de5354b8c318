#include "planner/lower/assign_parameters.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace stagewright {
namespace {

/// Whether an operation that uses the weight leaves a term of its gradient on each member.
bool is_summed_over_tensor(const RankContext& context, const Layer& layer, std::size_t index) {
  return std::any_of(layer.ops.begin(), layer.ops.end(), [&](const LayerOp& op) {
    return std::find(op.weights.begin(), op.weights.end(), index) != op.weights.end() &&
           weight_gradient_is_partial(context.tensor, op);
  });
}

void hold(const RankContext& context, RankDraft& draft, StageId stage, WeightId own) {
  const WeightId root = tie_root(*context.model, own);
  if (const auto found = draft.weight_index.find(root); found != draft.weight_index.end()) {
    std::vector<StageId>& stages = draft.weights[found->second].stages;
    if (stages.back() != stage) {
      stages.push_back(stage);
    }
    return;
  }
  const Layer& layer = context.layer(own.layer);
  const LayerWeight& weight = layer.weights[own.index];
  HeldWeight held;
  held.id = root;
  held.layer = own.layer;
  held.stages = {stage};
  held.name = layer.name + "." + weight.name;
  held.by_expert = weight.by_expert;
  held.shard = weight.by_expert ? shard(context.expert, weight) : shard(context.tensor, weight);
  held.decay = weight.parameters.front().decay;
  held.summed_over_tensor = is_summed_over_tensor(context, layer, own.index);
  const bool by_tensor = held.shard.axis && !held.by_expert;
  held.copies =
      context.replicas_of(held.by_expert).degree * (by_tensor ? 1.0 : context.tensor.degree);
  if (const auto shared = context.shared->of_weight.find(root);
      shared != context.shared->of_weight.end()) {
    held.sharing = shared->second;
    held.copies *=
        static_cast<double>(context.shared->sharings[shared->second].pipeline_ranks.size());
  }
  const auto add = [&](std::string name) {
    return draft.add_tensor({.name = std::move(name),
                             .dtype = storage_type(context.plan->precision.compute),
                             .shape = held.shard.shape,
                             .tensor_class = TensorClass::kParameter,
                             .scope = TensorScope::kPersistent,
                             .view = std::nullopt});
  };
  held.weight = add(held.name);
  for (std::int32_t version = 1; version < context.versions_of(stage).slots; ++version) {
    held.other_versions.push_back(add(fmt::format("{}.version{}", held.name, version)));
  }
  draft.weight_index.emplace(root, draft.weights.size());
  draft.weights.push_back(std::move(held));
}

}  // namespace

void assign_weights(const RankContext& context, RankDraft& draft) {
  for (const StageId stage : context.pipeline.stages) {
    const StagePlan& plan = context.stage(stage);
    for (std::int32_t layer = plan.first_layer; layer < plan.first_layer + plan.layers; ++layer) {
      const std::size_t weights = context.layer(LayerId(layer)).weights.size();
      for (std::size_t index = 0; index < weights; ++index) {
        hold(context, draft, stage, {.layer = LayerId(layer), .index = index});
      }
    }
  }
}

void fill_parameter_table(const RankContext& context, RankDraft& draft) {
  for (const HeldWeight& held : draft.weights) {
    const LayerWeight& weight = context.layer(held.id.layer).weights[held.id.index];
    for (std::size_t i = 0; i < weight.parameters.size(); ++i) {
      const ModelParameter& parameter = weight.parameters[i];
      ParameterSlice slice;
      slice.name = parameter.name;
      slice.global_shape = parameter.shape;
      slice.shard_axis = held.shard.axis;
      if (held.shard.axis) {
        slice.shard_group = held.by_expert ? context.expert.group : context.tensor.group;
      }
      slice.extent = held.shard.parts[i].extent;
      slice.weight = held.weight;
      slice.weight_offset = held.shard.parts[i].offset;
      slice.other_versions = held.other_versions;
      slice.gradient = held.gradient;
      slice.initializer = parameter.initializer;
      slice.deviation = parameter.deviation;
      slice.decay = parameter.decay;
      slice.copies = held.copies;
      slice.bucket = held.bucket;
      if (const BucketUse& use = draft.bucket_uses[held.bucket.index()];
          use.sharding == BucketSharding::kParameters) {
        slice.weight = use.shard->weight;
        slice.weight_offset += draft.program.tensors[held.weight.index()].view->offset;
        slice.flat_shard = ParameterSlice::FlatShard{
            .group = *context.replicas_of(held.by_expert).group, .stride = use.shard->elements};
      }
      if (held.layer != held.id.layer) {
        slice.tied_to = parameter.name;
      }
      draft.program.parameters.push_back(std::move(slice));
    }
  }
}

}  // namespace stagewright
