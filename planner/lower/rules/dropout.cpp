#include "planner/lower/rules/rules.h"

namespace stagewright {
namespace {

/// More than any layer has.
constexpr std::int64_t kValuesOfALayer = 256;

Operation dropout(const LayerWriter& writer, const LayerOp& op) {
  const LayerValue& y = writer.value(*op.output);
  Operation drop = writer.operation(OpKind::kDropout, *op.output);
  drop.shape.cols = writer.width(*op.output);
  drop.shape.sequence = writer.context().tokens();
  drop.scalar = op.scalar;
  drop.slice = row_slice(writer.context().tensor, y, writer.context().rows());
  // The same wherever the layer lies.
  drop.index = drop.layer->value() * kValuesOfALayer + op.output->value();
  return drop;
}

void forward(LayerWriter& writer, const LayerOp& op) {
  Operation drop = dropout(writer, op);
  drop.inputs = {writer.tensor(op.inputs[0])};
  if (const auto bias = deferred_bias(writer, op.inputs[0])) {
    drop.inputs.push_back(*bias);
  }
  drop.outputs = {writer.tensor(*op.output)};
  writer.emit(std::move(drop));
}

void backward(LayerWriter& writer, const LayerOp& op) {
  const ValueId x = op.inputs[0];
  Operation drop = dropout(writer, op);
  drop.inputs = {writer.take_gradient(*op.output)};
  drop.outputs = {writer.new_gradient(x, op.name)};
  writer.add_gradient(x, drop.outputs.front(), Ownership::kOwned);
  writer.emit(std::move(drop));
}

}  // namespace

OpRule dropout_rule() {
  return {forward, backward};
}

}  // namespace stagewright
