#include "planner/lower/rules/rules.h"

namespace stagewright {
namespace {

constexpr std::size_t kTable = 0;

Operation lookup(const LayerWriter& writer, const LayerOp& op, OpKind kind) {
  const LayerWeight& table = writer.layer().weights[op.weights[kTable]];
  Operation lookup = writer.operation(kind);
  lookup.slice =
      vocabulary_slice(writer.context().tensor, op, table.parameters.front().shape.front());
  lookup.shape.inner = lookup.slice->stride;
  lookup.shape.cols = writer.width(*op.output);
  return lookup;
}

void forward(LayerWriter& writer, const LayerOp& op) {
  Operation embed = lookup(writer, op, OpKind::kEmbeddingForward);
  embed.inputs = {writer.tokens(), writer.weight(op, kTable)};
  embed.outputs = {writer.tensor(*op.output)};
  if (output_is_partial(writer.context().tensor, op)) {
    writer.emit_term(std::move(embed), *op.output);
  } else {
    writer.emit(std::move(embed));
  }
}

void backward(LayerWriter& writer, const LayerOp& op) {
  const TensorId dy = writer.whole_gradient(
      *op.output, writer.take_gradient(*op.output), LayerWriter::GatherFor::kWeights);
  Operation gradient = lookup(writer, op, OpKind::kEmbeddingGradient);
  gradient.accumulate = true;
  gradient.weight_gradient = true;
  gradient.inputs = {writer.tokens(), dy};
  gradient.outputs = {writer.weight_gradient(op, kTable)};
  writer.emit(std::move(gradient));
}

}  // namespace

OpRule embedding_rule() {
  return {forward, backward};
}

}  // namespace stagewright
