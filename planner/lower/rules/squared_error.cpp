#include "planner/lower/rules/rules.h"

namespace stagewright {
namespace {

Operation on_outputs(const LayerWriter& writer, const LayerOp& op, OpKind kind) {
  const ValueId y = op.inputs[0];
  Operation on_outputs = writer.operation(kind);
  on_outputs.variant = OpVariant::kSquaredError;
  on_outputs.slice = vocabulary_slice(writer.context().tensor, op, writer.value(y).width);
  on_outputs.shape.cols = writer.width(y);
  return on_outputs;
}

/// Of the mean over the columns.
double column_share(const LayerWriter& writer, const LayerOp& op) {
  return 1.0 / static_cast<double>(writer.value(op.inputs[0]).width);
}

void forward(LayerWriter& writer, const LayerOp& op) {
  const TensorId row_sums = writer.extra(op, "sums", DType::kFloat32, {writer.context().rows()});
  Operation sums = on_outputs(writer, op, OpKind::kLossRowSum);
  sums.inputs = {writer.tensor(op.inputs[0]), writer.targets()};
  sums.outputs = {row_sums};
  const bool partial = output_is_partial(writer.context().tensor, op);
  writer.emit(std::move(sums), partial ? std::optional(OpVariant::kSum) : std::nullopt);

  Operation finish = writer.operation(OpKind::kLossFinish);
  finish.variant = OpVariant::kSquaredError;
  finish.dtype = DType::kFloat32;
  finish.accumulate = true;
  finish.scalar = loss_scale(*writer.context().plan) * column_share(writer, op);
  finish.inputs = {row_sums, writer.targets()};
  finish.outputs = {writer.loss()};
  writer.emit(std::move(finish));
}

/// Overwrites the outputs, which nobody reads any more.
void backward(LayerWriter& writer, const LayerOp& op) {
  const TensorId y = writer.tensor(op.inputs[0]);
  Operation gradient = on_outputs(writer, op, OpKind::kLossGradient);
  gradient.scalar =
      2 * column_share(writer, op) *
      loss_gradient_scale(*writer.context().plan, writer.context().micro_batches_per_update());
  gradient.inputs = {y, writer.targets()};
  gradient.outputs = {y};
  writer.emit(std::move(gradient));
  writer.add_gradient(op.inputs[0], y, Ownership::kOwned);
}

}  // namespace

OpRule squared_error_rule() {
  return {forward, backward};
}

}  // namespace stagewright
