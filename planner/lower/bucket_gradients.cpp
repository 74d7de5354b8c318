#include "planner/lower/bucket_gradients.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace stagewright {
namespace {

std::int64_t elements_of(const HeldWeight& held) {
  return std::accumulate(
      held.shard.shape.begin(), held.shard.shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// Indices into RankDraft::weights by bucket.
using Buckets = std::vector<std::vector<std::size_t>>;

/// Weights of a stage that are reduced alike, in reverse order of use.
using Alike = std::map<std::optional<std::size_t>, std::vector<std::size_t>>;

Alike sort_by_sharing(const RankDraft& draft, StageId stage) {
  Alike alike;  // what nobody shares comes first
  for (std::size_t i = draft.weights.size(); i-- > 0;) {
    if (draft.weights[i].stages.front() == stage) {
      alike[draft.weights[i].sharing].push_back(i);
    }
  }
  return alike;
}

Buckets divide_into_buckets(const RankContext& context, const RankDraft& draft, StageId stage) {
  const std::int64_t element = size_of(storage_type(context.plan->precision.gradient)).count();
  Buckets buckets;
  for (const auto& [sharing, weights] : sort_by_sharing(draft, stage)) {
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
  const std::int64_t replicas = context.data.degree;
  const std::int64_t elements = (used + replicas - 1) / replicas * replicas;

  GradientBucket bucket;
  bucket.stage = stage;
  BucketUse use{.stages = {}, .sharing = draft.weights[weights.front()].sharing};
  bucket.storage = draft.add_tensor({.name = fmt::format("gradients.{}", id.value()),
                                     .dtype = type,
                                     .shape = {elements},
                                     .tensor_class = TensorClass::kGradient,
                                     .scope = TensorScope::kPersistent,
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
                          .scope = TensorScope::kPersistent,
                          .view = TensorSpec::View{.base = bucket.storage, .offset = offset}});
    offset += elements_of(held);
    use.stages.insert(use.stages.end(), held.stages.begin(), held.stages.end());
  }
  std::sort(use.stages.begin(), use.stages.end());
  use.stages.erase(std::unique(use.stages.begin(), use.stages.end()), use.stages.end());
  if (use.sharing) {
    bucket.reduce.push_back(
        all_reduce(*context.sharing_groups[*use.sharing], bucket.storage, elements, type));
  }
  if (context.data.group) {
    bucket.reduce.push_back(all_reduce(*context.data.group, bucket.storage, elements, type));
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
