#include "planner/lower/shard_bucket.h"

#include <string>
#include <utility>

#include <fmt/format.h>

namespace stagewright {
namespace {

/// The replica's part of a flat tensor, as a window into it.
TensorId window_of(const DataAxis& replicas, RankDraft& draft, TensorId flat) {
  TensorSpec spec = draft.program.tensors[flat.index()];
  const std::int64_t part = spec.elements() / replicas.degree;
  spec.name += ".part";
  spec.shape = {part};
  spec.view = TensorSpec::View{.base = flat, .offset = 0, .group = replicas.group, .stride = part};
  return draft.add_tensor(std::move(spec));
}

/// A tensor of its own for the replica's part.
TensorId part_of(const DataAxis& replicas,
                 RankDraft& draft,
                 TensorId flat,
                 const std::string& suffix) {
  TensorSpec spec = draft.program.tensors[flat.index()];
  spec.name += suffix;
  spec.shape = {spec.elements() / replicas.degree};
  spec.scope = TensorScope::kPersistent;
  return draft.add_tensor(std::move(spec));
}

/// Over the replicas, between a flat tensor and the parts of it.
Operation collective(
    const DataAxis& replicas, const RankDraft& draft, OpKind kind, TensorId flat, TensorId part) {
  const TensorSpec& whole = draft.program.tensors[flat.index()];
  const bool gathers = kind == OpKind::kAllGather;
  Operation op;
  op.kind = kind;
  op.variant = gathers ? OpVariant::kNone : OpVariant::kSum;
  op.dtype = whole.dtype;
  op.stream = kDataStream;
  op.shape.cols = whole.elements();
  op.inputs = {gathers ? part : flat};
  op.outputs = {gathers ? flat : part};
  op.group = replicas.group;
  return op;
}

/// One flat tensor for the weights of a bucket, each in the place that its gradient has.
TensorId flatten_weights(RankDraft& draft, const GradientBucket& bucket, const BucketUse& use) {
  const TensorScope scope = use.sharding == BucketSharding::kParameters ? TensorScope::kMicroBatch
                                                                        : TensorScope::kPersistent;
  const std::vector<std::int64_t> shape = draft.program.tensors[bucket.storage.index()].shape;
  const TensorId flat = draft.add_tensor(
      {.name = fmt::format("weights.{}", draft.program.buckets.size()),
       .dtype = draft.program.tensors[draft.weights[use.weights.front()].weight.index()].dtype,
       .shape = shape,
       .tensor_class = TensorClass::kParameter,
       .scope = scope,
       .view = std::nullopt});
  for (const std::size_t i : use.weights) {
    const HeldWeight& held = draft.weights[i];
    const std::int64_t offset = draft.program.tensors[held.gradient.index()].view->offset;
    TensorSpec& weight = draft.program.tensors[held.weight.index()];
    weight.scope = scope;
    weight.view = TensorSpec::View{.base = flat, .offset = offset};
  }
  return flat;
}

Operation sum_into(const RankDraft& draft, TensorId received, TensorId sum) {
  Operation add;
  add.kind = OpKind::kAdd;
  add.dtype = draft.program.tensors[sum.index()].dtype;
  add.weight_gradient = true;
  add.shape.cols = draft.program.tensors[sum.index()].elements();
  add.inputs = {sum, received};
  add.outputs = {sum};
  return add;
}

}  // namespace

void shard_bucket(const RankContext& context,
                  RankDraft& draft,
                  GradientBucket& bucket,
                  BucketUse& use) {
  const DataAxis& replicas = context.replicas_of(use.by_expert);
  const TensorId weights = flatten_weights(draft, bucket, use);
  BucketShard shard;
  if (use.sharding == BucketSharding::kStates) {
    shard.gradient = window_of(replicas, draft, bucket.storage);
  } else {
    shard.gradient = part_of(replicas, draft, bucket.storage, ".sum");
    shard.received = part_of(replicas, draft, bucket.storage, ".received");
  }
  shard.weight = use.sharding == BucketSharding::kParameters
                     ? part_of(replicas, draft, weights, ".part")
                     : window_of(replicas, draft, weights);
  shard.elements = draft.program.tensors[shard.weight.index()].elements();
  bucket.reduce.push_back(collective(replicas,
                                     draft,
                                     OpKind::kReduceScatter,
                                     bucket.storage,
                                     shard.received.value_or(shard.gradient)));
  bucket.gather.push_back(collective(replicas, draft, OpKind::kAllGather, weights, shard.weight));
  use.shard = shard;
}

std::vector<Operation> add_received(const RankDraft& draft, StageId stage) {
  std::vector<Operation> ops;
  for (std::size_t b = 0; b < draft.bucket_uses.size(); ++b) {
    const BucketUse& use = draft.bucket_uses[b];
    if (draft.program.buckets[b].stage == stage && use.shard && use.shard->received) {
      ops.push_back(sum_into(draft, *use.shard->received, use.shard->gradient));
    }
  }
  return ops;
}

std::vector<Operation> begin_gradients(const RankDraft& draft, StageId stage) {
  std::vector<Operation> ops = add_received(draft, stage);
  for (std::size_t b = 0; b < draft.bucket_uses.size(); ++b) {
    const GradientBucket& bucket = draft.program.buckets[b];
    const TensorSpec& storage = draft.program.tensors[bucket.storage.index()];
    if (bucket.stage == stage && storage.scope == TensorScope::kMicroBatch) {
      Operation fill;
      fill.kind = OpKind::kFill;
      fill.dtype = storage.dtype;
      fill.weight_gradient = true;
      fill.shape.cols = storage.elements();
      fill.outputs = {bucket.storage};
      ops.push_back(std::move(fill));
    }
  }
  return ops;
}

}  // namespace stagewright
