#include "planner/lower/rules/rules.h"

namespace stagewright {
namespace {

void forward(LayerWriter& writer, const LayerOp& op) {
  Operation add = writer.operation(OpKind::kAdd, *op.output);
  add.shape.cols = writer.width(*op.output);
  add.inputs = {writer.tensor(op.inputs[0]), writer.tensor(op.inputs[1])};
  if (const auto bias = deferred_bias(writer, op.inputs[0])) {
    add.inputs.push_back(*bias);
  }
  add.outputs = {writer.tensor(*op.output)};
  writer.emit(std::move(add));
}

/// Both sides get the same gradient: no operation, one tensor.
void backward(LayerWriter& writer, const LayerOp& op) {
  const TensorId dy = writer.take_gradient(*op.output);
  for (const ValueId input : op.inputs) {
    writer.add_gradient(input, dy, Ownership::kShared);
  }
}

}  // namespace

OpRule add_rule() {
  return {forward, backward};
}

}  // namespace stagewright
