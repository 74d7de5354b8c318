#include "planner/lower/rules/rules.h"

namespace stagewright {
namespace {

/// Results of the forward that the backward reads too.
struct RowResults {
  TensorId maximum;
  TensorId sums;
};

RowResults row_results(LayerWriter& writer, const LayerOp& op) {
  const std::int64_t rows = writer.context().rows();
  return {.maximum = writer.extra(op, "maximum", DType::kFloat32, {rows}),
          .sums = writer.extra(op, "sums", DType::kFloat32, {rows, 2})};
}

Operation on_logits(const LayerWriter& writer, const LayerOp& op, OpKind kind) {
  const ValueId logits = op.inputs[0];
  Operation on_logits = writer.operation(kind);
  on_logits.slice = vocabulary_slice(writer.context().tensor, op, writer.value(logits).width);
  on_logits.shape.cols = writer.width(logits);
  return on_logits;
}

void forward(LayerWriter& writer, const LayerOp& op) {
  const TensorId logits = writer.tensor(op.inputs[0]);
  const RowResults results = row_results(writer, op);
  const bool partial = output_is_partial(writer.context().tensor, op);

  Operation maximum = on_logits(writer, op, OpKind::kLossRowMax);
  maximum.inputs = {logits};
  maximum.outputs = {results.maximum};
  writer.emit(std::move(maximum), partial ? std::optional(OpVariant::kMaximum) : std::nullopt);

  Operation sums = on_logits(writer, op, OpKind::kLossRowSum);
  sums.inputs = {logits, writer.targets(), results.maximum};
  sums.outputs = {results.sums};
  writer.emit(std::move(sums), partial ? std::optional(OpVariant::kSum) : std::nullopt);

  Operation finish = writer.operation(OpKind::kLossFinish);
  finish.dtype = DType::kFloat32;
  finish.accumulate = true;
  finish.scalar = loss_scale(*writer.context().plan);
  finish.inputs = {results.maximum, results.sums, writer.targets()};
  finish.outputs = {writer.loss()};
  writer.emit(std::move(finish));
}

/// Overwrites the logits, which nobody reads any more.
void backward(LayerWriter& writer, const LayerOp& op) {
  const TensorId logits = writer.tensor(op.inputs[0]);
  const RowResults results = row_results(writer, op);
  Operation gradient = on_logits(writer, op, OpKind::kLossGradient);
  gradient.scalar =
      loss_gradient_scale(*writer.context().plan, writer.context().micro_batches_per_update());
  gradient.inputs = {logits, writer.targets(), results.maximum, results.sums};
  gradient.outputs = {logits};
  writer.emit(std::move(gradient));
  writer.add_gradient(op.inputs[0], logits, Ownership::kOwned);
}

}  // namespace

OpRule cross_entropy_rule() {
  return {forward, backward};
}

}  // namespace stagewright
