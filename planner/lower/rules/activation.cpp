#include "planner/lower/rules/rules.h"

namespace stagewright {
namespace {

void forward(LayerWriter& writer, const LayerOp& op) {
  Operation activation = writer.operation(OpKind::kActivationForward, *op.output);
  activation.variant = op.variant;
  activation.shape.cols = writer.width(*op.output);
  activation.inputs = {writer.tensor(op.inputs[0])};
  activation.outputs = {writer.tensor(*op.output)};
  writer.emit(std::move(activation));
}

void backward(LayerWriter& writer, const LayerOp& op) {
  const ValueId x = op.inputs[0];
  const TensorId dy = writer.take_gradient(*op.output);
  const TensorId dx = writer.new_gradient(x, op.name);
  Operation activation = writer.operation(OpKind::kActivationBackward, *op.output);
  activation.variant = op.variant;
  activation.shape.cols = writer.width(*op.output);
  activation.inputs = {dy, writer.tensor(x)};
  activation.outputs = {dx};
  writer.emit(std::move(activation));
  writer.add_gradient(x, dx, Ownership::kOwned);
}

}  // namespace

OpRule activation_rule() {
  return {forward, backward};
}

}  // namespace stagewright
