#include "planner/lower/bucket_gradients.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "planner/lower/shard_bucket.h"

namespace stagewright {
namespace {

std::int64_t elements_of(const HeldWeight& held) {
  return std::accumulate(
      held.shard.shape.begin(), held.shard.shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// Indices into RankDraft::weights by bucket.
using Buckets = std::vector<std::vector<std::size_t>>;

/// What the weights of one bucket have in common.  One operation updates all of a bucket whose
/// states are divided, so there decay and copies count, too.
using Kind = std::tuple<std::optional<std::size_t>, bool, bool, BucketSharding, bool, double>;

/// Gradients that other ranks or stages add to are whole until the end of the step.
BucketSharding sharding_of(const RankContext& context, const HeldWeight& held) {
  const bool alone = !held.sharing && held.stages.size() == 1;
  const BucketSharding sharding = context.sharding(held.by_expert);
  return alone ? sharding : std::min(sharding, BucketSharding::kStates);
}

Kind kind_of(const RankContext& context, const HeldWeight& held) {
  const BucketSharding sharding = sharding_of(context, held);
  if (sharding == BucketSharding::kNone) {
    return {held.sharing, held.summed_over_tensor, held.by_expert, sharding, false, 0};
  }
  return {
      held.sharing, held.summed_over_tensor, held.by_expert, sharding, !held.decay, held.copies};
}

/// Weights of a stage that are reduced alike, in reverse order of use; what nobody shares first.
std::map<Kind, std::vector<std::size_t>> sort_by_kind(const RankContext& context,
                                                      const RankDraft& draft,
                                                      StageId stage) {
  std::map<Kind, std::vector<std::size_t>> sorted;
  for (std::size_t i = draft.weights.size(); i-- > 0;) {
    if (draft.weights[i].stages.front() == stage) {
      sorted[kind_of(context, draft.weights[i])].push_back(i);
    }
  }
  return sorted;
}

Buckets divide_into_buckets(const RankContext& context, const RankDraft& draft, StageId stage) {
  const std::int64_t element = size_of(storage_type(context.plan->precision.gradient)).count();
  Buckets buckets;
  for (const auto& [kind, weights] : sort_by_kind(context, draft, stage)) {
    std::int64_t filled = 0;
    for (const std::size_t i : weights) {
      const std::int64_t size = elements_of(draft.weights[i]) * element;
      const bool full =
          context.plan->bucket_size && filled + size > context.plan->bucket_size->count();
      if (filled == 0 || full) {
        buckets.emplace_back();
        filled = 0;
      }
      buckets.back().push_back(i);
      filled += size;
    }
  }
  return buckets;
}

Operation all_reduce(GroupSlot group, TensorId tensor, std::int64_t elements, DType type) {
  Operation op;
  op.kind = OpKind::kAllReduce;
  op.variant = OpVariant::kSum;
  op.dtype = type;
  op.stream = kDataStream;
  op.shape.cols = elements;
  op.inputs = {tensor};
  op.outputs = {tensor};
  op.group = group;
  return op;
}

/// Stages that use some of the weights.
std::vector<StageId> stages_of(const RankDraft& draft, const std::vector<std::size_t>& weights) {
  std::vector<StageId> stages;
  for (const std::size_t i : weights) {
    const std::vector<StageId>& of_weight = draft.weights[i].stages;
    stages.insert(stages.end(), of_weight.begin(), of_weight.end());
  }
  std::sort(stages.begin(), stages.end());
  stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
  return stages;
}

void add_bucket(const RankContext& context,
                RankDraft& draft,
                StageId stage,
                const std::vector<std::size_t>& weights) {
  const BucketId id(draft.program.buckets.size());
  const DType type = storage_type(context.plan->precision.gradient);
  std::int64_t used = 0;
  for (const std::size_t i : weights) {
    used += elements_of(draft.weights[i]);
  }
  const bool by_expert = draft.weights[weights.front()].by_expert;
  const DataAxis& summed = context.replicas_of(by_expert);
  const std::int64_t replicas = summed.degree;
  const std::int64_t elements = (used + replicas - 1) / replicas * replicas;

  GradientBucket bucket;
  bucket.stage = stage;
  BucketUse use;
  use.stages = stages_of(draft, weights);
  use.weights = weights;
  use.by_expert = by_expert;
  use.sharing = draft.weights[weights.front()].sharing;
  use.sharding = sharding_of(context, draft.weights[weights.front()]);
  const TensorScope scope = use.sharding >= BucketSharding::kGradients ? TensorScope::kMicroBatch
                                                                       : TensorScope::kPersistent;
  bucket.storage = draft.add_tensor({.name = fmt::format("gradients.{}", id.value()),
                                     .dtype = type,
                                     .shape = {elements},
                                     .tensor_class = TensorClass::kGradient,
                                     .scope = scope,
                                     .view = std::nullopt});
  std::int64_t offset = 0;
  for (const std::size_t i : weights) {
    HeldWeight& held = draft.weights[i];
    held.bucket = id;
    held.gradient =
        draft.add_tensor({.name = held.name + ".grad",
                          .dtype = type,
                          .shape = held.shard.shape,
                          .tensor_class = TensorClass::kGradient,
                          .scope = scope,
                          .view = TensorSpec::View{.base = bucket.storage, .offset = offset}});
    offset += elements_of(held);
  }
  if (use.sharing) {
    bucket.reduce.push_back(
        all_reduce(*context.sharing_groups[*use.sharing], bucket.storage, elements, type));
  }
  if (draft.weights[weights.front()].summed_over_tensor) {
    Operation sum = all_reduce(*context.tensor.group, bucket.storage, elements, type);
    sum.stream = kTensorStream;  // a group's collectives keep to one queue
    bucket.reduce.push_back(std::move(sum));
  }
  if (use.sharding != BucketSharding::kNone) {
    shard_bucket(context, draft, bucket, use);
  } else if (summed.group) {
    bucket.reduce.push_back(all_reduce(*summed.group, bucket.storage, elements, type));
  }
  draft.program.buckets.push_back(std::move(bucket));
  draft.bucket_uses.push_back(std::move(use));
}

}  // namespace

void bucket_gradients(const RankContext& context, RankDraft& draft) {
  for (const StageId stage : context.pipeline.stages) {
    for (const auto& weights : divide_into_buckets(context, draft, stage)) {
      add_bucket(context, draft, stage, weights);
    }
  }
}

}  // namespace stagewright
