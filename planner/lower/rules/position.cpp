#include "planner/lower/rules/rules.h"

namespace stagewright {
namespace {

constexpr std::size_t kTable = 0;

Operation position(const LayerWriter& writer, const LayerOp& op, OpKind kind) {
  Operation position = writer.operation(kind, *op.output);
  position.slice =
      row_slice(writer.context().tensor, writer.value(*op.output), writer.context().rows());
  position.shape.batch = writer.context().plan->micro_batch_size;
  position.shape.sequence = writer.context().tokens();
  position.shape.cols = writer.width(*op.output);
  return position;
}

void forward(LayerWriter& writer, const LayerOp& op) {
  Operation shift = position(writer, op, OpKind::kPositionForward);
  shift.inputs = {writer.tensor(op.inputs[0]), writer.weight(op, kTable)};
  shift.outputs = {writer.tensor(*op.output)};
  writer.emit(std::move(shift));
}

void backward(LayerWriter& writer, const LayerOp& op) {
  const TensorId dy = writer.take_gradient(*op.output);
  Operation gradient = position(writer, op, OpKind::kPositionGradient);
  gradient.accumulate = true;
  gradient.weight_gradient = true;
  gradient.inputs = {dy};
  gradient.outputs = {writer.weight_gradient(op, kTable)};
  writer.emit(std::move(gradient));
  writer.add_gradient(op.inputs[0], dy, Ownership::kShared);
}

}  // namespace

OpRule position_rule() {
  return {forward, backward};
}

}  // namespace stagewright
