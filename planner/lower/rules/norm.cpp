#include "planner/lower/rules/rules.h"

namespace stagewright {
namespace {

constexpr std::size_t kGamma = 0;
constexpr std::size_t kBeta = 1;

bool has_beta(const LayerOp& op) {
  return op.weights.size() > kBeta;
}

Operation norm(const LayerWriter& writer, const LayerOp& op, OpKind kind) {
  Operation norm = writer.operation(kind, *op.output);
  norm.variant = op.variant;
  norm.scalar = op.scalar;
  norm.shape.cols = writer.width(*op.output);
  return norm;
}

TensorId statistics(LayerWriter& writer, const LayerOp& op) {
  const std::int64_t per_row = op.variant == OpVariant::kRmsNorm ? 1 : 2;
  return writer.extra(op, "statistics", DType::kFloat32, {writer.rows(*op.output), per_row});
}

void forward(LayerWriter& writer, const LayerOp& op) {
  Operation apply = norm(writer, op, OpKind::kNormForward);
  apply.inputs = {writer.tensor(op.inputs[0]), writer.weight(op, kGamma)};
  if (has_beta(op)) {
    apply.inputs.push_back(writer.weight(op, kBeta));
  }
  apply.outputs = {writer.tensor(*op.output), statistics(writer, op)};
  writer.emit(std::move(apply));
}

void backward(LayerWriter& writer, const LayerOp& op) {
  const ValueId x = op.inputs[0];
  const TensorId dy = writer.take_gradient(*op.output);
  const TensorId dx = writer.new_gradient(x, op.name);

  Operation input = norm(writer, op, OpKind::kNormInputGradient);
  input.inputs = {dy, writer.tensor(x), writer.weight(op, kGamma), statistics(writer, op)};
  input.outputs = {dx};
  writer.emit(std::move(input));
  writer.add_gradient(x, dx, Ownership::kOwned);

  Operation parameters = norm(writer, op, OpKind::kNormParameterGradient);
  parameters.accumulate = true;
  parameters.weight_gradient = true;
  parameters.inputs = {dy, writer.tensor(x), statistics(writer, op)};
  parameters.outputs = {writer.weight_gradient(op, kGamma)};
  if (has_beta(op)) {
    parameters.outputs.push_back(writer.weight_gradient(op, kBeta));
  }
  writer.emit(std::move(parameters));
}

}  // namespace

OpRule norm_rule() {
  return {forward, backward};
}

}  // namespace stagewright
