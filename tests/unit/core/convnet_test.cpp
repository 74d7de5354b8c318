#include "core/model/convnet.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

ConvNetShape two_layers() {
  return {.height = 8,
          .width = 6,
          .channels = 3,
          .classes = 5,
          .layers = {{.channels = 4, .padding = 1, .pool = ConvNetPool{}}, {.units = 7}}};
}

TEST(ConvNetTest, IsAChainWhoseFirstLayerTakesInImages) {
  const ModelGraph graph = make_convnet("net", two_layers()).value();
  ASSERT_EQ(graph.layers.size(), 3U);
  EXPECT_TRUE(sees_images(graph));
  EXPECT_FALSE(graph.layers[0].input);
  EXPECT_EQ(graph.shape.max_sequence, 1);
  EXPECT_EQ(graph.shape.vocabulary, 5);
  // 8 x 6 pixels keep their number under a padding of 1 and are halved by the pool.
  const Layer& connected = graph.layers[1];
  EXPECT_EQ(connected.values[connected.input->index()].width, 4 * 3 * 4);
  // 4 filters of 3 x 3 x 3, 7 units of 48 inputs, 5 classes of 7; a bias each.
  EXPECT_EQ(parameter_count(graph), (27 + 1) * 4 + (48 + 1) * 7 + (7 + 1) * 5);
  EXPECT_EQ(single_value_cuts(graph).value().size(), 2U);
}

// Products of the forward and twice as many of the backward, two operations each.
TEST(ConvNetTest, CountsTheWorkOfItsProducts) {
  const ModelGraph graph = make_convnet("net", two_layers()).value();
  const double products = 8 * 6 * 27 * 4 + 48 * 7 + 7 * 5;
  EXPECT_DOUBLE_EQ(model_flops(graph, 10, 1).count(), 10 * 6 * products);
}

TEST(ConvNetTest, ResidualLayersProjectWhereSizesChange) {
  ConvNetShape shape = two_layers();
  shape.layers = {{.channels = 4, .padding = 1},
                  {.channels = 4, .padding = 1, .convolutions = 2, .residual = true},
                  {.channels = 8, .stride = 2, .padding = 1, .convolutions = 2, .residual = true}};
  const ModelGraph graph = make_convnet("net", shape).value();
  EXPECT_EQ(graph.layers[1].weights.size(), 4U);  // two convolutions
  ASSERT_EQ(graph.layers[2].weights.size(), 6U);  // and a shortcut
  EXPECT_EQ(graph.layers[2].weights.back().parameters.front().name, "conv.2.shortcut.bias");
  shape.layers[2].padding = 0;
  shape.layers[2].convolutions = 1;
  const auto refused = make_convnet("net", shape);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("layer 2 (from 0): a residual of 4 x 3 pixels"),
            std::string::npos)
      << refused.error().message;
}

TEST(ConvNetTest, RefusesSizesThatDoNotFit) {
  const auto refusal = [](void (*spoil)(ConvNetShape&)) {
    ConvNetShape shape = two_layers();
    spoil(shape);
    const auto made = make_convnet("net", shape);
    return made ? std::string("made") : made.error().message;
  };
  const auto expect = [](const std::string& message, const char* words) {
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  expect(refusal([](ConvNetShape& shape) { shape.classes = 0; }), "'classes' is 0");
  expect(refusal([](ConvNetShape& shape) { shape.layers.clear(); }), "0 layers");
  expect(refusal([](ConvNetShape& shape) { shape.layers[0].kernel = 11; }), "does not fit");
  expect(refusal([](ConvNetShape& shape) { shape.layers[0].padding = 3; }),
         "padding is less than the kernel");
  expect(refusal([](ConvNetShape& shape) { shape.layers[0].units = 3; }), "'channels' or 'units'");
  expect(refusal([](ConvNetShape& shape) { shape.layers.push_back({.channels = 4}); }),
         "layer 2 (from 0): a convolution behind a fully connected layer");
  expect(refusal([](ConvNetShape& shape) { shape.layers[1].dropout = 1; }), "'dropout' is 1");
  expect(refusal([](ConvNetShape& shape) { shape.layers.erase(shape.layers.begin()); }),
         "the first layer must be a convolution");
  expect(refusal([](ConvNetShape& shape) { shape.layers[0].channels = 999'999'999; }),
         "elements of an image");
}

TEST(OpWindowTest, CountsWholeWindows) {
  // 224 + 2 * 2 = 228 pixels: windows of 11 every 4 begin at 0, 4, .. 216.
  const OpWindow window{
      .height = 224, .width = 227, .channels = 3, .kernel = 11, .stride = 4, .padding = 2};
  EXPECT_EQ(window.out_height(), 55);
  EXPECT_EQ(window.out_width(), 56);
  EXPECT_TRUE(window.is_possible());
  EXPECT_FALSE((OpWindow{.height = 4, .width = 4, .kernel = 5}).is_possible());
  EXPECT_FALSE((OpWindow{.height = 4, .width = 4, .kernel = 2, .padding = 2}).is_possible());
}

}  // namespace
}  // namespace stagewright
