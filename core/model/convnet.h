#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/model_graph.h"

namespace stagewright {

/// A pool behind the convolutions of a layer.
struct ConvNetPool {
  OpVariant kind = OpVariant::kMaximum;  ///< or kAverage
  std::int64_t kernel = 2;
  std::int64_t stride = 2;
  std::int64_t padding = 0;
  friend bool operator==(const ConvNetPool&, const ConvNetPool&) = default;
};

/// A layer of a convolutional network: convolutions with ReLU behind each, or a fully connected
/// one.  Either `channels` or `units` is positive.
struct ConvNetLayer {
  std::int64_t channels = 0;  ///< that come out
  std::int64_t kernel = 3;
  std::int64_t stride = 1;  ///< of the first convolution; the others have 1
  std::int64_t padding = 0;
  std::int64_t convolutions = 1;
  /// What comes in is added in front of the last ReLU; through a convolution of single pixels with
  /// the layer's stride where sizes change (He et al. 2016, equations 1 and 2).
  bool residual = false;
  std::optional<ConvNetPool> pool;
  std::int64_t units = 0;  ///< of a fully connected layer, with ReLU behind it
  double dropout = 0;      ///< behind that
  friend bool operator==(const ConvNetLayer&, const ConvNetLayer&) = default;
};

/// A network of images to classes, without norms.
struct ConvNetShape {
  std::int64_t height = 0;  ///< of an image, in pixels
  std::int64_t width = 0;
  std::int64_t channels = 3;
  std::int64_t classes = 0;
  std::vector<ConvNetLayer> layers;  ///< convolutional ones first
  friend bool operator==(const ConvNetShape&, const ConvNetShape&) = default;
};

/// The chain of its layers, the first of which takes in images, and the head: a projection to the
/// classes with bias, and cross-entropy, averaged over images.  Weights begin normal with variance
/// 2 / inputs (He et al. 2015, equation 10).  Fails, naming the layer, for sizes that do not fit.
[[nodiscard]] Result<ModelGraph> make_convnet(std::string name, const ConvNetShape& shape);

}  // namespace stagewright
