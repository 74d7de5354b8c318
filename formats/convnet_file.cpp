#include "formats/convnet_file.h"

#include <string_view>
#include <vector>

namespace stagewright {
namespace {

ConvNetPool read_pool(JsonReader& reader) {
  static constexpr OpVariant kKinds[] = {OpVariant::kMaximum, OpVariant::kAverage};
  ConvNetPool pool;
  static const std::vector<std::string_view> kNames = {"maximum", "average"};
  pool.kind = kKinds[reader.has("kind") ? reader.one_of("kind", kNames) : 0];
  pool.kernel = reader.positive_or("kernel", pool.kernel);
  pool.stride = reader.positive_or("stride", pool.kernel);
  pool.padding = reader.integer_or("padding", 0);
  return pool;
}

/// Of layers that have neither, the builder says what is missing.
ConvNetLayer read_layer(JsonReader& reader) {
  ConvNetLayer layer;
  if (reader.has("norm")) {
    reader.reject(
        "norm",
        "is not supported: the statistics of a batch norm belong to all replicas; leave it "
        "out");
    return layer;
  }
  if (reader.has("units")) {
    layer.units = reader.positive("units");
    layer.dropout = reader.number_or("dropout", 0);
    return layer;
  }
  layer.channels = reader.positive("channels");
  layer.kernel = reader.positive_or("kernel", layer.kernel);
  layer.stride = reader.positive_or("stride", layer.stride);
  layer.padding = reader.integer_or("padding", layer.padding);
  layer.convolutions = reader.positive_or("convolutions", layer.convolutions);
  layer.residual = reader.boolean_or("residual", layer.residual);
  reader.object("pool", [&](JsonReader& pool) { layer.pool = read_pool(pool); });
  return layer;
}

}  // namespace

ConvNetShape read_convnet(JsonReader& reader) {
  ConvNetShape shape;
  reader.object("image", [&](JsonReader& image) {
    shape.height = image.positive("height");
    shape.width = image.positive_or("width", shape.height);
    shape.channels = image.positive_or("channels", shape.channels);
  });
  if (!reader.failed() && shape.height == 0) {
    reader.reject("image", "is missing; give {\"height\": ..., \"channels\": ...}");
  }
  shape.classes = reader.positive("classes");
  reader.objects("layers", [&](JsonReader& layer) { shape.layers.push_back(read_layer(layer)); });
  return shape;
}

}  // namespace stagewright
