#include "core/model/convnet.h"

#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace stagewright {
namespace {

// Sizes above these are slips of the keyboard; they keep products inside 64 bits and lists small.
constexpr std::int64_t kLargestSide = 65'536;
constexpr std::int64_t kLargestWidth = 1'000'000'000;
constexpr std::int64_t kMostNetParameters = 1'000'000'000'000;
constexpr std::size_t kMostNetLayers = 10'000;
constexpr std::int64_t kMostConvolutions = 16;

/// The images between two layers.
struct Images {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;

  [[nodiscard]] std::int64_t elements() const { return height * width * channels; }
  friend bool operator==(const Images&, const Images&) = default;
};

OpWindow window_over(const Images& images,
                     std::int64_t kernel,
                     std::int64_t stride,
                     std::int64_t padding) {
  return {.height = static_cast<std::int32_t>(images.height),
          .width = static_cast<std::int32_t>(images.width),
          .channels = static_cast<std::int32_t>(images.channels),
          .kernel = static_cast<std::int32_t>(kernel),
          .stride = static_cast<std::int32_t>(stride),
          .padding = static_cast<std::int32_t>(padding)};
}

/// Adds values, weights and operations to one layer.
class ConvNetBuilder {
 public:
  ConvNetBuilder(std::string name, LayerRole role) {
    layer_.name = std::move(name);
    layer_.role = role;
  }

  ValueId value(std::string name, std::int64_t width) {
    layer_.values.push_back({std::move(name), width, false});
    return ValueId(layer_.values.size() - 1);
  }

  LayerOp& op(LayerOpKind kind, std::string name, std::vector<ValueId> inputs) {
    LayerOp op;
    op.kind = kind;
    op.name = std::move(name);
    op.inputs = std::move(inputs);
    layer_.ops.push_back(std::move(op));
    return layer_.ops.back();
  }

  ValueId image(const Images& images) {
    const ValueId y = value("image", images.elements());
    op(LayerOpKind::kImage, "image", {}).output = y;
    return y;
  }

  ValueId convolution(const std::string& name,
                      ValueId x,
                      const OpWindow& window,
                      std::int64_t channels) {
    const std::int64_t inputs = std::int64_t{window.kernel} * window.kernel * window.channels;
    const ValueId y = value(name, window.out_pixels() * channels);
    LayerOp& convolution = op(LayerOpKind::kConvolution, name, {x});
    convolution.output = y;
    convolution.window = window;
    add_weights(name, channels, inputs);
    return y;
  }

  ValueId linear(const std::string& name, ValueId x, std::int64_t units) {
    const ValueId y = value(name, units);
    op(LayerOpKind::kLinear, name, {x}).output = y;
    add_weights(name, units, layer_.values[x.index()].width);
    return y;
  }

  ValueId relu(const std::string& name, ValueId x) {
    const ValueId y = value(name, layer_.values[x.index()].width);
    LayerOp& relu = op(LayerOpKind::kActivation, name, {x});
    relu.output = y;
    relu.variant = OpVariant::kRelu;
    return y;
  }

  ValueId add(ValueId a, ValueId b) {
    const ValueId y = value("add", layer_.values[a.index()].width);
    op(LayerOpKind::kAdd, "add", {a, b}).output = y;
    return y;
  }

  ValueId pool(ValueId x, const OpWindow& window, OpVariant kind) {
    const ValueId y = value("pool", window.out_pixels() * window.channels);
    LayerOp& pool = op(LayerOpKind::kPool, "pool", {x});
    pool.output = y;
    pool.variant = kind;
    pool.window = window;
    return y;
  }

  ValueId dropout(ValueId x, double probability) {
    if (probability == 0) {
      return x;
    }
    const ValueId y = value("dropout", layer_.values[x.index()].width);
    LayerOp& dropout = op(LayerOpKind::kDropout, "dropout", {x});
    dropout.output = y;
    dropout.scalar = probability;
    return y;
  }

  void loss(ValueId logits) { op(LayerOpKind::kCrossEntropy, "loss", {logits}); }

  Layer finish(std::optional<ValueId> input, std::optional<ValueId> output) {
    layer_.input = input;
    layer_.output = output;
    return std::move(layer_);
  }

 private:
  /// Matrix and bias of the last operation.
  void add_weights(const std::string& name, std::int64_t outputs, std::int64_t inputs) {
    const std::string parameter = layer_.name + "." + name;
    const double deviation = std::sqrt(2.0 / static_cast<double>(inputs));
    LayerWeight matrix{name + ".weight", {}, {}, {}};
    matrix.parameters.push_back(
        {parameter + ".weight", {outputs, inputs}, Initializer::kNormal, deviation, true});
    LayerWeight bias{name + ".bias", {}, {}, {}};
    bias.parameters.push_back({parameter + ".bias", {outputs}, Initializer::kZeros, 0, false});
    const std::size_t first = layer_.weights.size();
    layer_.weights.push_back(std::move(matrix));
    layer_.weights.push_back(std::move(bias));
    layer_.ops.back().weights = {first, first + 1};
  }

  Layer layer_;
};

tl::unexpected<Error> refuse(std::size_t layer, std::string message) {
  return fail(ErrorCode::kInvalidInput,
              fmt::format("layer {} (from 0): {}", layer, std::move(message)));
}

/// Lays windows over images; fails where none fits.
Result<OpWindow> checked_window(std::size_t layer,
                                std::string_view what,
                                const Images& images,
                                std::int64_t kernel,
                                std::int64_t stride,
                                std::int64_t padding) {
  if (kernel < 1 || kernel > kLargestSide || stride < 1 || stride > kLargestSide || padding < 0 ||
      padding >= kernel) {
    return refuse(
        layer,
        fmt::format("a {} of kernel {}, stride {} and padding {}; kernel and stride are at "
                    "least 1, padding is less than the kernel",
                    what,
                    kernel,
                    stride,
                    padding));
  }
  const OpWindow window = window_over(images, kernel, stride, padding);
  if (!window.is_possible()) {
    return refuse(
        layer,
        fmt::format("a {} of kernel {} and padding {} does not fit into images of {} x {} "
                    "pixels; use larger images or fewer strides before it",
                    what,
                    kernel,
                    padding,
                    images.height,
                    images.width));
  }
  return window;
}

Result<void> check_width(std::size_t layer, const Images& images) {
  if (images.channels > kLargestWidth / (images.height * images.width)) {
    return refuse(layer,
                  fmt::format("{} x {} x {} elements of an image are more than the {} that are "
                              "supported",
                              images.height,
                              images.width,
                              images.channels,
                              kLargestWidth));
  }
  return {};
}

/// Makes layers one after the other; remembers what comes out of the last.
class ConvNetMaker {
 public:
  explicit ConvNetMaker(const ConvNetShape& shape)
      : images_{shape.height, shape.width, shape.channels} {}

  Result<Layer> convolutional(std::size_t index, const ConvNetLayer& layer) {
    if (flat_) {
      return refuse(index, "a convolution behind a fully connected layer, which leaves no image");
    }
    if (layer.channels > kLargestWidth || layer.convolutions < 1 ||
        layer.convolutions > kMostConvolutions) {
      return refuse(index,
                    fmt::format("{} convolutions to {} channels; use 1 to {} to at most {}",
                                layer.convolutions,
                                layer.channels,
                                kMostConvolutions,
                                kLargestWidth));
    }
    ConvNetBuilder builder(fmt::format("conv.{}", index), LayerRole::kBlock);
    std::optional<ValueId> input;
    if (index > 0) {
      input = builder.value("input", images_.elements());
    }
    const ValueId x = input ? *input : builder.image(images_);
    auto y = convolutions(builder, index, layer, x);
    if (!y) {
      return pass_on(std::move(y));
    }
    if (layer.pool) {
      const ConvNetPool& pool = *layer.pool;
      auto window = checked_window(index, "pool", images_, pool.kernel, pool.stride, pool.padding);
      if (!window) {
        return pass_on(std::move(window));
      }
      y = builder.pool(*y, *window, pool.kind);
      images_ = {window->out_height(), window->out_width(), images_.channels};
    }
    return builder.finish(input, *y);
  }

  Result<Layer> connected(std::size_t index, const ConvNetLayer& layer) {
    if (index == 0) {
      return refuse(index, "the first layer must be a convolution, which takes in the images");
    }
    if (layer.units > kLargestWidth || layer.pool || layer.residual) {
      return refuse(index,
                    fmt::format("a fully connected layer of {} units; it has at most {}, neither "
                                "pool nor residual",
                                layer.units,
                                kLargestWidth));
    }
    if (!(layer.dropout >= 0 && layer.dropout < 1)) {
      return refuse(index,
                    fmt::format("'dropout' is {}; it is a probability below 1", layer.dropout));
    }
    ConvNetBuilder builder(fmt::format("fc.{}", index), LayerRole::kBlock);
    const ValueId x = builder.value("input", images_.elements());
    const ValueId up = builder.linear("linear", x, layer.units);
    const ValueId y = builder.dropout(builder.relu("activation", up), layer.dropout);
    images_ = {1, 1, layer.units};
    flat_ = true;
    return builder.finish(x, y);
  }

  Layer head(std::int64_t classes) {
    ConvNetBuilder builder("head", LayerRole::kHead);
    const ValueId x = builder.value("input", images_.elements());
    builder.loss(builder.linear("logits", x, classes));
    return builder.finish(x, {});
  }

 private:
  Result<ValueId> convolutions(ConvNetBuilder& builder,
                               std::size_t index,
                               const ConvNetLayer& layer,
                               ValueId x) {
    const Images before = images_;
    ValueId y = x;
    for (std::int64_t i = 0; i < layer.convolutions; ++i) {
      const bool last = i + 1 == layer.convolutions;
      auto window = checked_window(
          index, "convolution", images_, layer.kernel, i == 0 ? layer.stride : 1, layer.padding);
      if (!window) {
        return pass_on(std::move(window));
      }
      const std::string name =
          layer.convolutions == 1 ? "convolution" : fmt::format("convolution.{}", i);
      images_ = {window->out_height(), window->out_width(), layer.channels};
      if (auto fits = check_width(index, images_); !fits) {
        return pass_on(std::move(fits));
      }
      y = builder.convolution(name, y, *window, layer.channels);
      if (last && layer.residual) {
        auto sum = with_shortcut(builder, index, layer, x, y, before);
        if (!sum) {
          return sum;
        }
        y = *sum;
      }
      y = builder.relu(last ? "activation" : fmt::format("activation.{}", i), y);
    }
    return y;
  }

  Result<ValueId> with_shortcut(ConvNetBuilder& builder,
                                std::size_t index,
                                const ConvNetLayer& layer,
                                ValueId x,
                                ValueId y,
                                const Images& before) {
    if (before == images_) {
      return builder.add(y, x);
    }
    const OpWindow window = window_over(before, 1, layer.stride, 0);
    if (window.out_height() != images_.height || window.out_width() != images_.width) {
      return refuse(index,
                    fmt::format("a residual of {} x {} pixels cannot be added to one of {} x {}; "
                                "choose a padding that keeps sizes ((kernel - 1) / 2)",
                                window.out_height(),
                                window.out_width(),
                                images_.height,
                                images_.width));
    }
    return builder.add(y, builder.convolution("shortcut", x, window, layer.channels));
  }

  Images images_;
  bool flat_ = false;
};

Result<void> check_ends(const ConvNetShape& shape) {
  for (const auto& [what, size, most] : {std::tuple("height", shape.height, kLargestSide),
                                         std::tuple("width", shape.width, kLargestSide),
                                         std::tuple("channels", shape.channels, kLargestSide),
                                         std::tuple("classes", shape.classes, kLargestWidth)}) {
    if (size < 1 || size > most) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("'{}' is {}; it must be 1 to {}", what, size, most));
    }
  }
  if (shape.layers.empty() || shape.layers.size() > kMostNetLayers) {
    return fail(
        ErrorCode::kInvalidInput,
        fmt::format("{} layers; a network has 1 to {}", shape.layers.size(), kMostNetLayers));
  }
  return check_width(0, {shape.height, shape.width, shape.channels});
}

/// In floating point, since a product of sizes may leave 64 bits.
Result<void> check_net_parameters(const Layer& layer, double& parameters) {
  for (const LayerWeight& weight : layer.weights) {
    for (const ModelParameter& parameter : weight.parameters) {
      double elements = 1;
      for (const std::int64_t extent : parameter.shape) {
        elements *= static_cast<double>(extent);
      }
      parameters += elements;
    }
  }
  if (parameters > static_cast<double>(kMostNetParameters)) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("up to layer '{}' there are {:.1e} parameters, more than the {:.0e} "
                            "that are supported",
                            layer.name,
                            parameters,
                            static_cast<double>(kMostNetParameters)));
  }
  return {};
}

}  // namespace

Result<ModelGraph> make_convnet(std::string name, const ConvNetShape& shape) {
  if (auto checked = check_ends(shape); !checked) {
    return pass_on(std::move(checked));
  }
  ModelGraph graph;
  graph.name = std::move(name);
  graph.family = "convnet";
  graph.shape.vocabulary = shape.classes;
  graph.shape.max_sequence = 1;
  graph.shape.learned_positions = false;
  graph.shape.tied_embeddings = false;
  ConvNetMaker maker(shape);
  double parameters = 0;
  for (std::size_t i = 0; i < shape.layers.size(); ++i) {
    const ConvNetLayer& layer = shape.layers[i];
    if ((layer.channels > 0) == (layer.units > 0)) {
      return refuse(i, "give either 'channels' or 'units', and at least 1 of them");
    }
    auto made = layer.channels > 0 ? maker.convolutional(i, layer) : maker.connected(i, layer);
    if (!made) {
      return pass_on(std::move(made));
    }
    if (auto few = check_net_parameters(*made, parameters); !few) {
      return pass_on(std::move(few));
    }
    graph.layers.push_back(*std::move(made));
  }
  graph.layers.push_back(maker.head(shape.classes));
  if (auto few = check_net_parameters(graph.layers.back(), parameters); !few) {
    return pass_on(std::move(few));
  }
  for (std::size_t i = 1; i < graph.layers.size(); ++i) {
    graph.edges.emplace_back(LayerId(i - 1), LayerId(i));
  }
  return graph;
}

}  // namespace stagewright
