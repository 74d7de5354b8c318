#include "planner/lower/emit_optimizer_step.h"

#include <utility>

#include "core/base/check.h"
#include "planner/lower/shard_bucket.h"

namespace stagewright {
namespace {

/// Elements of RankProgram::totals.
constexpr std::int64_t kSquaredNorm = 0;
constexpr std::int64_t kLoss = 1;
constexpr std::int64_t kTotals = 2;

UpdateUnit unit_of(const RankDraft& draft, const HeldWeight& held) {
  UpdateUnit unit{.name = held.name,
                  .stage = held.stages.front(),
                  .layer = held.layer,
                  .weights = {held.weight},
                  .gradient = held.gradient,
                  .elements = draft.program.tensors[held.weight.index()].elements(),
                  .decay = held.decay,
                  .copies = held.copies,
                  .states = {}};
  unit.weights.insert(unit.weights.end(), held.other_versions.begin(), held.other_versions.end());
  return unit;
}

/// Each replica has a part of its own, so that those copies do not count.
UpdateUnit unit_of(const RankContext& context, const RankDraft& draft, const BucketUse& use) {
  const HeldWeight& first = draft.weights[use.weights.front()];
  return {.name = draft.program.tensors[use.shard->weight.index()].name,
          .stage = first.stages.front(),
          .layer = std::nullopt,
          .weights = {use.shard->weight},
          .gradient = use.shard->gradient,
          .elements = use.shard->elements,
          .decay = first.decay,
          .copies = first.copies / context.replicas_of(use.by_expert).degree,
          .states = {}};
}

std::vector<const char*> with_master(const RankContext& context, std::vector<const char*> states) {
  if (context.plan->precision.master_weights &&
      storage_type(context.plan->precision.compute) != DType::kFloat32) {
    states.push_back(".master");
  }
  return states;
}

/// Suffixes of the optimizer's own tensors.
std::vector<const char*> states_of(const RankContext& context) {
  const OptimizerSpec& optimizer = context.plan->optimizer;
  switch (optimizer.kind) {
    case OptimizerKind::kSgd:
      return with_master(
          context, optimizer.momentum != 0 ? std::vector{".momentum"} : std::vector<const char*>());
    case OptimizerKind::kAdam:
    case OptimizerKind::kAdamW:
      return with_master(context, {".moment1", ".moment2"});
  }
  SW_CHECK(false, "a known optimizer");
}

/// Whether updates must know the totals: to clip, or to leave the step out where they are no
/// numbers, as scaled gradients may become.
bool updates_read_totals(const RankContext& context) {
  return context.plan->optimizer.clip_norm || context.plan->precision.compute == DType::kFloat16;
}

Operation squared_sum(const RankContext& context, const RankDraft& draft, const UpdateUnit& unit) {
  Operation op;
  op.kind = OpKind::kSquaredSum;
  op.dtype = draft.program.tensors[unit.gradient.index()].dtype;
  op.shape.cols = unit.elements;
  op.index = kSquaredNorm;
  // Of several updates in a step the mean.
  const double updates = context.plan->micro_batches / context.micro_batches_per_update();
  op.scalar = 1.0 / (unit.copies * updates);
  op.inputs = {unit.gradient};
  op.outputs = {*draft.program.totals};
  op.layer = unit.layer;
  return op;
}

Operation reduce_totals(const RankContext& context, const RankDraft& draft) {
  Operation op;
  op.kind = OpKind::kAllReduce;
  op.variant = OpVariant::kSum;
  op.stream = kDataStream;
  op.shape.cols = kTotals;
  op.inputs = {*draft.program.totals};
  op.outputs = {*draft.program.totals};
  op.group = context.world;
  return op;
}

Operation update(const RankContext& context,
                 const RankDraft& draft,
                 const UpdateUnit& unit,
                 std::int32_t version) {
  const OptimizerSpec& optimizer = context.plan->optimizer;
  Operation op;
  op.kind = optimizer.kind == OptimizerKind::kSgd ? OpKind::kSgdStep : OpKind::kAdamWStep;
  op.shape.cols = unit.elements;
  op.decay = unit.decay;
  op.inputs = {unit.gradient};
  if (updates_read_totals(context)) {
    op.inputs.push_back(*draft.program.totals);  // nothing changes before the norm is known
  }
  op.outputs = {unit.weights[static_cast<std::size_t>(version)]};
  op.outputs.insert(op.outputs.end(), unit.states.begin(), unit.states.end());
  op.layer = unit.layer;
  return op;
}

Operation copy(const RankDraft& draft, const UpdateUnit& unit, std::int32_t from, std::int32_t to) {
  Operation op;
  op.kind = OpKind::kCopy;
  op.dtype = draft.program.tensors[unit.weights.front().index()].dtype;
  op.shape.cols = unit.elements;
  op.inputs = {unit.weights[static_cast<std::size_t>(from)]};
  op.outputs = {unit.weights[static_cast<std::size_t>(to)]};
  op.layer = unit.layer;
  return op;
}

Operation clear(const RankDraft& draft, TensorId tensor) {
  const TensorSpec& spec = draft.program.tensors[tensor.index()];
  Operation op;
  op.kind = OpKind::kFill;
  op.dtype = spec.dtype;
  op.shape.cols = spec.elements();
  op.outputs = {tensor};
  return op;
}

}  // namespace

void make_totals(RankDraft& draft) {
  draft.program.totals = draft.add_tensor({.name = "totals",
                                           .dtype = DType::kFloat32,
                                           .shape = {kTotals},
                                           .tensor_class = TensorClass::kOptimizer,
                                           .scope = TensorScope::kPersistent,
                                           .view = std::nullopt});
  draft.loss =
      draft.add_tensor({.name = "loss",
                        .dtype = DType::kFloat32,
                        .shape = {1},
                        .tensor_class = TensorClass::kOptimizer,
                        .scope = TensorScope::kPersistent,
                        .view = TensorSpec::View{.base = *draft.program.totals, .offset = kLoss}});
}

void plan_updates(const RankContext& context, RankDraft& draft) {
  if (context.sharding(false) != BucketSharding::kNone) {
    for (const BucketUse& use : draft.bucket_uses) {
      if (use.shard) {
        draft.updates.push_back(unit_of(context, draft, use));
        continue;
      }
      for (const std::size_t weight : use.weights) {
        draft.updates.push_back(unit_of(draft, draft.weights[weight]));
      }
    }
  } else {
    for (const HeldWeight& held : draft.weights) {
      draft.updates.push_back(unit_of(draft, held));
    }
  }
  for (UpdateUnit& unit : draft.updates) {
    const std::vector<std::int64_t> shape =
        draft.program.tensors[unit.weights.front().index()].shape;
    for (const char* suffix : states_of(context)) {
      unit.states.push_back(draft.add_tensor({.name = unit.name + suffix,
                                              .dtype = DType::kFloat32,
                                              .shape = shape,
                                              .tensor_class = TensorClass::kOptimizer,
                                              .scope = TensorScope::kPersistent,
                                              .view = std::nullopt}));
    }
  }
}

std::vector<Operation> update_of_stage(const RankContext& context,
                                       const RankDraft& draft,
                                       StageId stage,
                                       std::int32_t version) {
  const StageVersions& versions = context.versions_of(stage);
  std::vector<Operation> ops;
  const auto for_each_unit = [&](auto&& make) {
    for (const UpdateUnit& unit : draft.updates) {
      if (unit.stage == stage) {
        ops.push_back(make(unit));
      }
    }
  };
  if (versions.keeps_previous) {
    for_each_unit([&](const UpdateUnit& unit) { return copy(draft, unit, 0, 1); });
  } else if (versions.slots > 1) {
    const std::int32_t before = (version + versions.slots - 1) % versions.slots;
    for_each_unit([&](const UpdateUnit& unit) { return copy(draft, unit, before, version); });
  }
  for_each_unit([&](const UpdateUnit& unit) { return squared_sum(context, draft, unit); });
  for_each_unit([&](const UpdateUnit& unit) { return update(context, draft, unit, version); });
  for (const GradientBucket& bucket : draft.program.buckets) {
    if (bucket.stage == stage) {
      ops.push_back(clear(draft, bucket.storage));
    }
  }
  return ops;
}

void emit_optimizer_step(const RankContext& context, RankDraft& draft) {
  std::vector<Operation>& ops = draft.program.optimizer_step;
  if (context.updates) {
    ops.push_back(reduce_totals(context, draft));
    for (const UpdateUnit& unit : draft.updates) {
      if (const auto newest = context.versions_of(unit.stage).newest_at_end; newest != 0) {
        ops.push_back(copy(draft, unit, newest, 0));
      }
    }
    ops.push_back(clear(draft, *draft.program.totals));
    return;
  }
  for (const StageId stage : context.pipeline.stages) {
    for (Operation& add : add_received(draft, stage)) {
      add.weight_gradient = false;
      ops.push_back(std::move(add));
    }
  }
  for (const UpdateUnit& unit : draft.updates) {
    ops.push_back(squared_sum(context, draft, unit));
  }
  ops.push_back(reduce_totals(context, draft));
  for (const UpdateUnit& unit : draft.updates) {
    ops.push_back(update(context, draft, unit, 0));
  }
  for (std::size_t b = 0; b < draft.bucket_uses.size(); ++b) {
    const std::optional<BucketShard>& shard = draft.bucket_uses[b].shard;
    if (shard && shard->received) {
      ops.push_back(clear(draft, shard->gradient));
      ops.push_back(clear(draft, *shard->received));
    } else {
      ops.push_back(clear(draft, draft.program.buckets[b].storage));
    }
  }
  ops.push_back(clear(draft, *draft.program.totals));
}

}  // namespace stagewright
