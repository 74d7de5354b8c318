#include "core/model/transformer.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

TransformerShape gpt2_shape(std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
  TransformerShape shape;
  shape.layers = layers;
  shape.hidden = hidden;
  shape.heads = heads;
  shape.kv_heads = heads;
  shape.head_dim = hidden / heads;
  shape.feed_forward = 4 * hidden;
  shape.vocabulary = 50257;
  shape.max_sequence = 1024;
  return shape;
}

TransformerShape llama_shape(std::int64_t layers,
                             std::int64_t hidden,
                             std::int64_t kv_heads,
                             std::int64_t feed_forward,
                             std::int64_t vocabulary) {
  TransformerShape shape;
  shape.layers = layers;
  shape.hidden = hidden;
  shape.heads = hidden / 128;
  shape.kv_heads = kv_heads;
  shape.head_dim = 128;
  shape.feed_forward = feed_forward;
  shape.vocabulary = vocabulary;
  shape.max_sequence = 8192;
  shape.norm = OpVariant::kRmsNorm;
  shape.activation = OpVariant::kSwiGlu;
  shape.learned_positions = false;
  shape.biases = false;
  shape.qkv_bias = false;
  shape.tied_embeddings = false;
  return shape;
}

std::int64_t parameters_of(const TransformerShape& shape) {
  const auto graph = make_transformer("m", "f", shape);
  return graph ? parameter_count(*graph) : 0;
}

// Totals as published with the released weights.
TEST(Transformer, ParameterTotalsAreThoseOfTheReleasedModels) {
  EXPECT_EQ(parameters_of(gpt2_shape(12, 768, 12)), 124'439'808);
  EXPECT_EQ(parameters_of(gpt2_shape(48, 1600, 25)), 1'557'611'200);
  EXPECT_EQ(parameters_of(llama_shape(32, 4096, 32, 11008, 32000)), 6'738'415'616);
  EXPECT_EQ(parameters_of(llama_shape(40, 5120, 40, 13824, 32000)), 13'015'864'320);
  EXPECT_EQ(parameters_of(llama_shape(80, 8192, 8, 28672, 32000)), 68'976'648'192);
  EXPECT_EQ(parameters_of(llama_shape(32, 4096, 8, 14336, 128256)), 8'030'261'248);
  EXPECT_EQ(parameters_of(llama_shape(80, 8192, 8, 28672, 128256)), 70'553'706'496);
  EXPECT_EQ(parameters_of(llama_shape(126, 16384, 8, 53248, 128256)), 405'853'388'800);
}

TEST(Transformer, ATiedHeadAddsNoParameters) {
  TransformerShape shape = gpt2_shape(2, 64, 4);
  const std::int64_t tied = parameters_of(shape);
  shape.tied_embeddings = false;
  EXPECT_EQ(parameters_of(shape), tied + 50257 * 64);
}

/// Walks the operations of a layer in order.
void expect_written_before_read(const Layer& layer) {
  std::set<ValueId> written;
  std::set<std::string> ops;
  if (layer.input) {
    written.insert(*layer.input);
  }
  for (const LayerOp& op : layer.ops) {
    EXPECT_TRUE(ops.insert(op.name).second) << layer.name << " " << op.name;
    for (const ValueId input : op.inputs) {
      EXPECT_TRUE(written.contains(input)) << layer.name << " " << op.name;
    }
    if (op.output) {
      written.insert(*op.output);
    }
  }
  EXPECT_EQ(written.size(), layer.values.size()) << layer.name;
}

TEST(Transformer, ValuesAreWrittenBeforeTheyAreReadAndNamesAreUnique) {
  for (const TransformerShape& shape : {gpt2_shape(3, 64, 4), llama_shape(3, 512, 2, 1024, 256)}) {
    const auto graph = make_transformer("m", "f", shape);
    ASSERT_TRUE(graph.has_value());
    ASSERT_EQ(graph->layers.size(), 5U);
    std::set<std::string> parameters;
    for (const Layer& layer : graph->layers) {
      expect_written_before_read(layer);
      for (const LayerWeight& weight : layer.weights) {
        for (const ModelParameter& parameter : weight.parameters) {
          EXPECT_TRUE(parameters.insert(parameter.name).second) << parameter.name;
        }
      }
    }
  }
}

TEST(Transformer, ASplitBlockDividesExactlyTheValuesBetweenColumnAndRowProducts) {
  const auto graph = make_transformer("m", "f", llama_shape(1, 512, 2, 1024, 256));
  ASSERT_TRUE(graph.has_value());
  std::vector<LayerValue> divided;
  std::ranges::copy_if(graph->layers[1].values, std::back_inserter(divided), &LayerValue::divided);
  EXPECT_EQ(divided,
            (std::vector<LayerValue>{{"qkv", (4 + 2 * 2) * 128, true},
                                     {"attention", 512, true},
                                     {"up", 2048, true},
                                     {"activation", 1024, true}}));
}

TEST(Transformer, AMatrixIsDividedAlongTheAxisOfItsSplit) {
  const auto graph = make_transformer("m", "f", gpt2_shape(8, 64, 4));
  ASSERT_TRUE(graph.has_value());
  const auto& weights = graph->layers[4].weights;
  const auto found = std::ranges::find(weights, "down.weight", &LayerWeight::name);
  ASSERT_NE(found, weights.end());
  // 0.02 / sqrt(2 * 8 layers)
  EXPECT_EQ(
      *found,
      (LayerWeight{"down.weight",
                   {{"block.3.mlp.down.weight", {64, 256}, Initializer::kNormal, 0.005, true}},
                   1,
                   {}}));
  EXPECT_EQ(
      *(found + 1),
      (LayerWeight{
          "down.bias", {{"block.3.mlp.down.bias", {64}, Initializer::kZeros, 0, false}}, {}, {}}));
}

TEST(Transformer, ImpossibleSizesAreNamed) {
  TransformerShape shape = gpt2_shape(2, 64, 4);
  shape.hidden = 0;
  EXPECT_EQ(make_transformer("m", "f", shape).error().message,
            "'hidden' is 0; it must be 1 or more");
  shape = gpt2_shape(2, 64, 4);
  shape.layers = -3;
  EXPECT_EQ(make_transformer("m", "f", shape).error().message,
            "'layers' is -3; it must be 1 or more");
  shape = gpt2_shape(2, 64, 4);
  shape.kv_heads = 3;
  EXPECT_EQ(make_transformer("m", "f", shape).error().message,
            "4 heads are not divisible by 3 kv_heads; every key and value head must serve equally "
            "many query heads");
  shape = llama_shape(2, 512, 4, 64, 64);
  shape.head_dim = 127;
  EXPECT_EQ(make_transformer("m", "f", shape).error().message,
            "'head_dim' is 127; rotary positions need an even number");
}

}  // namespace
}  // namespace stagewright
