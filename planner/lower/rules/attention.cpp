#include "core/model/attention_workspace.h"
#include "planner/lower/ring_attention.h"
#include "planner/lower/rules/rules.h"

namespace stagewright {
namespace {

Operation attention(const LayerWriter& writer, const LayerOp& op, OpKind kind) {
  const RankContext& context = writer.context();
  Operation attention = writer.operation(kind);
  attention.causal = op.causal;
  attention.shape.batch = context.plan->micro_batch_size;
  attention.shape.sequence = context.tokens();
  attention.shape.heads = local_heads(context.tensor, op, op.heads);
  attention.shape.kv_heads = local_heads(context.tensor, op, op.kv_heads);
  attention.shape.head_dim = op.head_dim;
  return attention;
}

/// Logarithm of each row's sum, kept for the backward.
TensorId log_sum_exp(LayerWriter& writer, const LayerOp& op, const OpShape& shape) {
  return writer.extra(op, "lse", DType::kFloat32, {shape.batch, shape.heads, shape.sequence});
}

void add_workspace(LayerWriter& writer, const LayerOp& op, Operation& attention, bool backward) {
  if (writer.context().blockwise_attention) {
    attention.outputs.push_back(
        writer.extra(op,
                     backward ? "backward_workspace" : "workspace",
                     DType::kFloat32,
                     {attention_workspace_elements(attention.shape, backward)},
                     TensorClass::kWorkspace));
  }
}

bool goes_round(const LayerWriter& writer) {
  return writer.context().context.degree > 1;
}

void forward(LayerWriter& writer, const LayerOp& op) {
  Operation attend = attention(writer, op, OpKind::kAttentionForward);
  attend.inputs = {writer.tensor(op.inputs[0])};
  attend.outputs = {writer.tensor(*op.output), log_sum_exp(writer, op, attend.shape)};
  add_workspace(writer, op, attend, false);
  if (goes_round(writer)) {
    emit_ring_forward(writer, op, attend);
  } else {
    writer.emit(std::move(attend));
  }
}

void backward(LayerWriter& writer, const LayerOp& op) {
  const ValueId qkv = op.inputs[0];
  const TensorId dout = writer.take_gradient(*op.output);
  const TensorId dqkv = writer.new_gradient(qkv, op.name);
  Operation attend = attention(writer, op, OpKind::kAttentionBackward);
  attend.inputs = {
      dout, writer.tensor(qkv), writer.tensor(*op.output), log_sum_exp(writer, op, attend.shape)};
  attend.outputs = {dqkv};
  add_workspace(writer, op, attend, true);
  if (goes_round(writer)) {
    emit_ring_backward(writer, op, attend);
  } else {
    writer.emit(std::move(attend));
  }
  writer.add_gradient(qkv, dqkv, Ownership::kOwned);
}

}  // namespace

OpRule attention_rule() {
  return {forward, backward};
}

}  // namespace stagewright
