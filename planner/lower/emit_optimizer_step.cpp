#include "planner/lower/emit_optimizer_step.h"

#include <vector>

#include "core/base/check.h"

namespace stagewright {
namespace {

/// Elements of RankProgram::totals.
constexpr std::int64_t kSquaredNorm = 0;
constexpr std::int64_t kLoss = 1;
constexpr std::int64_t kTotals = 2;

Operation squared_sum(const RankContext& context, const RankDraft& draft, const HeldWeight& held) {
  const TensorSpec& gradient = draft.program.tensors[held.gradient.index()];
  Operation op;
  op.kind = OpKind::kSquaredSum;
  op.dtype = gradient.dtype;
  op.shape.cols = gradient.elements();
  op.index = kSquaredNorm;
  // Of several updates in a step the mean.
  const double updates = context.plan->micro_batches / context.micro_batches_per_update();
  op.scalar = 1.0 / (held.copies * updates);
  op.inputs = {held.gradient};
  op.outputs = {*draft.program.totals};
  op.layer = held.layer;
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

/// Suffixes of the optimizer's own tensors of a weight.
std::vector<const char*> states_of(const RankContext& context) {
  const OptimizerSpec& optimizer = context.plan->optimizer;
  switch (optimizer.kind) {
    case OptimizerKind::kSgd:
      return optimizer.momentum != 0 ? std::vector{".momentum"} : std::vector<const char*>();
    case OptimizerKind::kAdamW: {
      std::vector states{".moment1", ".moment2"};
      if (context.plan->precision.master_weights &&
          storage_type(context.plan->precision.compute) != DType::kFloat32) {
        states.push_back(".master");
      }
      return states;
    }
  }
  SW_CHECK(false, "a known optimizer");
}

Operation update(const RankContext& context,
                 const RankDraft& draft,
                 const HeldWeight& held,
                 std::int32_t version) {
  const OptimizerSpec& optimizer = context.plan->optimizer;
  const LayerWeight& weight = context.layer(held.id.layer).weights[held.id.index];
  Operation op;
  op.kind = optimizer.kind == OptimizerKind::kSgd ? OpKind::kSgdStep : OpKind::kAdamWStep;
  op.shape.cols = draft.program.tensors[held.weight.index()].elements();
  op.decay = weight.parameters.front().decay;
  op.inputs = {held.gradient};
  if (optimizer.clip_norm) {
    op.inputs.push_back(*draft.program.totals);  // nothing changes before the norm is known
  }
  op.outputs = {held.version(version)};
  op.outputs.insert(op.outputs.end(), held.states.begin(), held.states.end());
  op.layer = held.layer;
  return op;
}

Operation copy(const RankDraft& draft, const HeldWeight& held, std::int32_t from, std::int32_t to) {
  const TensorSpec& weight = draft.program.tensors[held.weight.index()];
  Operation op;
  op.kind = OpKind::kCopy;
  op.dtype = weight.dtype;
  op.shape.cols = weight.elements();
  op.inputs = {held.version(from)};
  op.outputs = {held.version(to)};
  op.layer = held.layer;
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

void make_optimizer_states(const RankContext& context, RankDraft& draft) {
  for (HeldWeight& held : draft.weights) {
    for (const char* suffix : states_of(context)) {
      held.states.push_back(draft.add_tensor({.name = held.name + suffix,
                                              .dtype = DType::kFloat32,
                                              .shape = held.shard.shape,
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
  const auto for_each_weight = [&](auto&& make) {
    for (const HeldWeight& held : draft.weights) {
      if (held.stages.front() == stage) {
        ops.push_back(make(held));
      }
    }
  };
  if (versions.keeps_previous) {
    for_each_weight([&](const HeldWeight& held) { return copy(draft, held, 0, 1); });
  } else if (versions.slots > 1) {
    const std::int32_t before = (version + versions.slots - 1) % versions.slots;
    for_each_weight([&](const HeldWeight& held) { return copy(draft, held, before, version); });
  }
  for_each_weight([&](const HeldWeight& held) { return squared_sum(context, draft, held); });
  for_each_weight([&](const HeldWeight& held) { return update(context, draft, held, version); });
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
    for (const HeldWeight& held : draft.weights) {
      if (const auto newest = context.versions_of(held.stages.front()).newest_at_end; newest != 0) {
        ops.push_back(copy(draft, held, newest, 0));
      }
    }
    ops.push_back(clear(draft, *draft.program.totals));
    return;
  }
  for (const HeldWeight& held : draft.weights) {
    ops.push_back(squared_sum(context, draft, held));
  }
  ops.push_back(reduce_totals(context, draft));
  for (const HeldWeight& held : draft.weights) {
    ops.push_back(update(context, draft, held, 0));
  }
  for (const GradientBucket& bucket : draft.program.buckets) {
    ops.push_back(clear(draft, bucket.storage));
  }
  ops.push_back(clear(draft, *draft.program.totals));
}

}  // namespace stagewright
