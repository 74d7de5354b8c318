#include "planner/lower/rules/rules.h"

namespace stagewright {
namespace {

void forward(LayerWriter& writer, const LayerOp& op) {
  Operation image = writer.operation(OpKind::kImage);
  image.source = DType::kInt32;
  image.dtype = storage_type(image.dtype);
  image.shape.cols = writer.width(*op.output);
  image.inputs = {writer.images(image.shape.cols)};
  image.outputs = {writer.tensor(*op.output)};
  writer.emit(std::move(image));
}

/// Images have no gradient, and the convolution that reads them makes none.
void backward(LayerWriter& /*writer*/, const LayerOp& /*op*/) {}

}  // namespace

OpRule image_rule() {
  return {forward, backward};
}

}  // namespace stagewright
