#include "core/base/check.h"
#include "planner/lower/rules/rules.h"

namespace stagewright {
namespace {

Operation rotation(const LayerWriter& writer, const LayerOp& op, OpKind kind, TensorId packed) {
  SW_CHECK(op.output == op.inputs[0], "a rotation in place");
  const RankContext& context = writer.context();
  Operation rotation = writer.operation(kind);
  rotation.scalar = op.scalar;
  rotation.shape.batch = context.plan->micro_batch_size;
  rotation.shape.sequence = context.tokens();
  rotation.shape.heads = local_heads(context.tensor, op, op.heads);
  rotation.shape.kv_heads = local_heads(context.tensor, op, op.kv_heads);
  rotation.shape.head_dim = op.head_dim;
  rotation.inputs = {packed};
  rotation.outputs = {packed};
  return rotation;
}

void forward(LayerWriter& writer, const LayerOp& op) {
  const TensorId qkv = writer.tensor(op.inputs[0]);
  writer.emit(rotation(writer, op, OpKind::kRopeForward, qkv));
}

void backward(LayerWriter& writer, const LayerOp& op) {
  const TensorId dqkv = writer.take_gradient(*op.output);
  writer.emit(rotation(writer, op, OpKind::kRopeBackward, dqkv));
  writer.add_gradient(op.inputs[0], dqkv, Ownership::kOwned);
}

}  // namespace

OpRule rope_rule() {
  return {forward, backward};
}

}  // namespace stagewright
