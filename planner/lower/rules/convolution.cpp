#include "planner/lower/rules/rules.h"

namespace stagewright {
namespace {

constexpr std::size_t kMatrix = 0;
constexpr std::size_t kBias = 1;

/// Forward and both gradients name the sizes of the forward's product.
Operation convolution(const LayerWriter& writer, const LayerOp& op, OpKind kind) {
  const OpWindow& window = op.window;
  Operation convolution = writer.operation(kind);
  OpShape& shape = convolution.shape;
  shape.batch = shape.rows;
  shape.rows = shape.batch * window.out_pixels();
  shape.cols = writer.width(*op.output) / window.out_pixels();
  shape.inner = std::int64_t{window.kernel} * window.kernel * window.channels;
  shape.window = window;
  return convolution;
}

void forward(LayerWriter& writer, const LayerOp& op) {
  Operation convolve = convolution(writer, op, OpKind::kConvolution);
  convolve.inputs = {
      writer.tensor(op.inputs[0]), writer.weight(op, kMatrix), writer.weight(op, kBias)};
  convolve.outputs = {writer.tensor(*op.output)};
  writer.emit(std::move(convolve));
}

/// Images have no gradient.
bool reads_images(const LayerWriter& writer, const LayerOp& op) {
  const LayerOp* source = writer.producer(op.inputs[0]);
  return source != nullptr && source->kind == LayerOpKind::kImage;
}

void backward(LayerWriter& writer, const LayerOp& op) {
  const ValueId x = op.inputs[0];
  const TensorId dy = writer.take_gradient(*op.output);
  if (!reads_images(writer, op)) {
    const TensorId dx = writer.new_gradient(x, op.name);
    Operation input = convolution(writer, op, OpKind::kConvolutionInputGradient);
    input.inputs = {dy, writer.weight(op, kMatrix)};
    input.outputs = {dx};
    writer.emit(std::move(input));
    writer.add_gradient(x, dx, Ownership::kOwned);
  }
  Operation weights = convolution(writer, op, OpKind::kConvolutionWeightGradient);
  weights.accumulate = true;
  weights.weight_gradient = true;
  weights.inputs = {dy, writer.tensor(x)};
  weights.outputs = {writer.weight_gradient(op, kMatrix), writer.weight_gradient(op, kBias)};
  writer.emit(std::move(weights));
}

}  // namespace

OpRule convolution_rule() {
  return {forward, backward};
}

}  // namespace stagewright
