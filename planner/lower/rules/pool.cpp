#include "planner/lower/rules/rules.h"

namespace stagewright {
namespace {

Operation pool(const LayerWriter& writer, const LayerOp& op, OpKind kind) {
  const OpWindow& window = op.window;
  Operation pool = writer.operation(kind);
  pool.variant = op.variant;
  pool.shape.batch = pool.shape.rows;
  pool.shape.rows = pool.shape.batch * window.out_pixels();
  pool.shape.cols = window.channels;
  pool.shape.window = window;
  return pool;
}

void forward(LayerWriter& writer, const LayerOp& op) {
  Operation reduce = pool(writer, op, OpKind::kPool);
  reduce.inputs = {writer.tensor(op.inputs[0])};
  reduce.outputs = {writer.tensor(*op.output)};
  writer.emit(std::move(reduce));
}

void backward(LayerWriter& writer, const LayerOp& op) {
  const ValueId x = op.inputs[0];
  Operation spread = pool(writer, op, OpKind::kPoolGradient);
  spread.inputs = {writer.take_gradient(*op.output)};
  if (op.variant == OpVariant::kMaximum) {
    spread.inputs.push_back(writer.tensor(x));
  }
  spread.outputs = {writer.new_gradient(x, op.name)};
  writer.add_gradient(x, spread.outputs.front(), Ownership::kOwned);
  writer.emit(std::move(spread));
}

}  // namespace

OpRule pool_rule() {
  return {forward, backward};
}

}  // namespace stagewright
