#include "core/base/check.h"
#include "planner/lower/rules/rules.h"

namespace stagewright {
namespace {

constexpr std::size_t kMatrix = 0;
constexpr std::size_t kBias = 1;

bool has_bias(const LayerOp& op) {
  return op.weights.size() > kBias;
}

bool defers_bias(const LayerOp& op) {
  return has_bias(op) && op.split == Split::kRow;
}

/// y = x W^T + bias.
void forward(LayerWriter& writer, const LayerOp& op) {
  Operation product = writer.operation(OpKind::kGemm);
  product.transpose_b = true;
  product.shape.cols = writer.width(*op.output);
  product.shape.inner = writer.width(op.inputs[0]);
  product.inputs = {writer.whole(op.inputs[0]), writer.weight(op, kMatrix)};
  if (has_bias(op) && !defers_bias(op)) {
    product.inputs.push_back(writer.weight(op, kBias));
  }
  product.outputs = {writer.tensor(*op.output)};
  if (output_is_partial(writer.context().tensor, op)) {
    writer.emit_term(std::move(product), *op.output);
  } else {
    writer.emit(std::move(product));
  }
}

/// dx = dy W.
void input_gradient(LayerWriter& writer, const LayerOp& op, TensorId dy) {
  const ValueId x = op.inputs[0];
  const TensorId dx = writer.new_gradient(x, op.name);
  Operation product = writer.operation(OpKind::kGemm);
  product.shape.cols = writer.width(x);
  product.shape.inner = writer.width(*op.output);
  product.inputs = {dy, writer.weight(op, kMatrix)};
  product.outputs = {dx};
  if (input_gradient_is_partial(writer.context().tensor, op)) {
    writer.emit_term(std::move(product), x);
  } else {
    writer.emit(std::move(product));
  }
  writer.add_gradient(x, dx, Ownership::kOwned);
}

/// dW += dy^T x, dbias += column sums of dy.
void weight_gradients(LayerWriter& writer, const LayerOp& op, TensorId dy, TensorId x) {
  Operation product = writer.operation(OpKind::kGemm);
  product.transpose_a = true;
  product.accumulate = true;
  product.weight_gradient = true;
  product.shape.inner = product.shape.rows;
  product.shape.rows = writer.width(*op.output);
  product.shape.cols = writer.width(op.inputs[0]);
  product.inputs = {dy, x};
  product.outputs = {writer.weight_gradient(op, kMatrix)};
  writer.emit(std::move(product));
  if (has_bias(op)) {
    Operation sum = writer.operation(OpKind::kColumnSum);
    sum.accumulate = true;
    sum.weight_gradient = true;
    sum.shape.cols = writer.width(*op.output);
    sum.inputs = {dy};
    sum.outputs = {writer.weight_gradient(op, kBias)};
    writer.emit(std::move(sum));
  }
}

void backward(LayerWriter& writer, const LayerOp& op) {
  const TensorId dy = writer.whole_gradient(*op.output, writer.take_gradient(*op.output));
  // Where its rows are divided, only this rank's were kept.  Gathered while dx is computed.
  const TensorId x = writer.whole(op.inputs[0], LayerWriter::GatherFor::kWeights);
  input_gradient(writer, op, dy);
  weight_gradients(writer, op, dy, x);
}

}  // namespace

OpRule linear_rule() {
  return {forward, backward};
}

std::optional<TensorId> deferred_bias(const LayerWriter& writer, ValueId projection) {
  const LayerOp* source = writer.producer(projection);
  if (source == nullptr || source->kind != LayerOpKind::kLinear || !defers_bias(*source)) {
    return std::nullopt;
  }
  SW_CHECK(writer.consumers(projection) == 1, "one reader of a row-divided projection with bias");
  return writer.weight(*source, kBias);
}

}  // namespace stagewright
