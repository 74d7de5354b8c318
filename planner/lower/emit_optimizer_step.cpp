#include "planner/lower/emit_optimizer_step.h"

#include <utility>

#include "core/base/check.h"

namespace stagewright {
namespace {

/// Elements of RankProgram::totals.
constexpr std::int64_t kSquaredNorm = 0;
constexpr std::int64_t kLoss = 1;
constexpr std::int64_t kTotals = 2;

TensorId add_state(RankDraft& draft, const HeldWeight& held, const char* suffix) {
  return draft.add_tensor({.name = held.name + suffix,
                           .dtype = DType::kFloat32,
                           .shape = held.shard.shape,
                           .tensor_class = TensorClass::kOptimizer,
                           .scope = TensorScope::kPersistent,
                           .view = std::nullopt});
}

Operation squared_sum(const RankDraft& draft, const HeldWeight& held) {
  const TensorSpec& gradient = draft.program.tensors[held.gradient.index()];
  Operation op;
  op.kind = OpKind::kSquaredSum;
  op.dtype = gradient.dtype;
  op.shape.cols = gradient.elements();
  op.index = kSquaredNorm;
  op.scalar = 1.0 / held.copies;
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

Operation update(const RankContext& context, RankDraft& draft, const HeldWeight& held) {
  const OptimizerSpec& optimizer = context.plan->optimizer;
  const LayerWeight& weight = context.layer(held.id.layer).weights[held.id.index];
  Operation op;
  op.shape.cols = draft.program.tensors[held.weight.index()].elements();
  op.decay = weight.parameters.front().decay;
  op.inputs = {held.gradient, *draft.program.totals};
  op.outputs = {held.weight};
  op.layer = held.layer;
  switch (optimizer.kind) {
    case OptimizerKind::kSgd:
      op.kind = OpKind::kSgdStep;
      if (optimizer.momentum != 0) {
        op.outputs.push_back(add_state(draft, held, ".momentum"));
      }
      return op;
    case OptimizerKind::kAdamW:
      op.kind = OpKind::kAdamWStep;
      op.outputs.push_back(add_state(draft, held, ".moment1"));
      op.outputs.push_back(add_state(draft, held, ".moment2"));
      if (context.plan->precision.master_weights &&
          storage_type(context.plan->precision.compute) != DType::kFloat32) {
        op.outputs.push_back(add_state(draft, held, ".master"));
      }
      return op;
  }
  SW_CHECK(false, "a known optimizer");
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

void emit_optimizer_step(const RankContext& context, RankDraft& draft) {
  std::vector<Operation>& ops = draft.program.optimizer_step;
  for (const HeldWeight& held : draft.weights) {
    ops.push_back(squared_sum(draft, held));
  }
  ops.push_back(reduce_totals(context, draft));
  for (const HeldWeight& held : draft.weights) {
    ops.push_back(update(context, draft, held));
  }
  for (const GradientBucket& bucket : draft.program.buckets) {
    ops.push_back(clear(draft, bucket.storage));
  }
  ops.push_back(clear(draft, *draft.program.totals));
}

}  // namespace stagewright
