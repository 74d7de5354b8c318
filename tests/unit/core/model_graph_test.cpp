#include "core/model/model_graph.h"

#include <gtest/gtest.h>

#include "core/model/transformer.h"

namespace stagewright {
namespace {

/// Layers a, b, c, ... joined by the edges.
ModelGraph graph_of(std::size_t layers, const std::vector<std::pair<int, int>>& edges) {
  ModelGraph graph;
  graph.name = "letters";
  for (std::size_t i = 0; i < layers; ++i) {
    graph.layers.emplace_back().name = std::string(1, static_cast<char>('a' + i));
  }
  for (const auto& [from, to] : edges) {
    graph.edges.emplace_back(LayerId(from), LayerId(to));
  }
  return graph;
}

std::vector<int> numbers(const std::vector<LayerId>& ids) {
  std::vector<int> result;
  result.reserve(ids.size());
  for (const LayerId id : ids) {
    result.push_back(id.value());
  }
  return result;
}

ModelGraph small_transformer() {
  TransformerShape shape;
  shape.layers = 2;
  shape.hidden = 64;
  shape.heads = shape.kv_heads = 4;
  shape.head_dim = 16;
  shape.feed_forward = 256;
  shape.vocabulary = 100;
  shape.max_sequence = 32;
  return *make_transformer("small", "gpt2", shape);
}

TEST(ModelGraph, TheSmallestFreeLayerComesFirst) {
  EXPECT_EQ(numbers(*topological_order(graph_of(5, {{4, 0}, {0, 2}, {3, 2}}))),
            (std::vector{1, 3, 4, 0, 2}));
}

TEST(ModelGraph, ACycleIsReportedByTheNamesOfItsLayers) {
  const auto order = topological_order(graph_of(4, {{0, 1}, {1, 2}, {2, 1}, {2, 3}}));
  ASSERT_FALSE(order.has_value());
  EXPECT_EQ(order.error().message, "the layers of model 'letters' form a cycle: b, c");
  EXPECT_EQ(topological_order(graph_of(2, {{1, 1}})).error().message,
            "the layers of model 'letters' form a cycle: b");
}

TEST(ModelGraph, AnEdgeToNowhereIsAnError) {
  EXPECT_EQ(topological_order(graph_of(2, {{0, 2}})).error().message,
            "model 'letters' has an edge to layer 2, but 2 layers");
}

//   a - b - d        weights a 1, b 5, c 3, d 1, e 4: a b d = 7, a c e = 8
//    \ c - e
TEST(ModelGraph, TheCriticalPathIsTheHeaviestChain) {
  const ModelGraph graph = graph_of(5, {{0, 1}, {1, 3}, {0, 2}, {2, 4}});
  EXPECT_EQ(numbers(critical_path(graph, {1, 5, 3, 1, 4})), (std::vector{0, 2, 4}));
  EXPECT_EQ(numbers(critical_path(graph, {1, 5, 3, 3, 4})), (std::vector{0, 1, 3}));
  EXPECT_EQ(numbers(critical_path(graph_of(1, {}), {2})), (std::vector{0}));
}

// a feeds b, c and d: one value until c is done, although three edges cross; b's output is
// used by d alone, so that before c and before d two values cross.
TEST(ModelGraph, CutsAreWhereOneValueCrosses) {
  EXPECT_EQ(*single_value_cuts(graph_of(5, {{0, 1}, {0, 2}, {0, 3}, {1, 3}, {2, 3}, {3, 4}})),
            (std::vector<std::size_t>{1, 4}));
  EXPECT_EQ(*single_value_cuts(small_transformer()), (std::vector<std::size_t>{1, 2, 3}));
  EXPECT_TRUE(single_value_cuts(graph_of(1, {}))->empty());
}

TEST(ModelGraph, FlopsAreSixPerMatrixWeightAndTokenPlusAttention) {
  const ModelGraph graph = small_transformer();
  const double matrices = 2 * 12 * 64 * 64 + 100 * 64;
  // per layer and sequence forward: 4 * sequence^2 * hidden, half of it causal; backward twice that
  const double attention = 3 * 2 * 0.5 * 4 * 32 * 32 * 64;
  EXPECT_EQ(model_flops(graph, 96, 32), Flops(6 * matrices * 96 + attention * 3));
}

TEST(ModelGraph, TheHashFollowsContentNotName) {
  ModelGraph graph = small_transformer();
  const std::string hash = model_hash(graph);
  graph.name = "renamed";
  EXPECT_EQ(model_hash(graph), hash);
  graph.layers[1].weights[0].parameters[0].shape[0] += 1;
  EXPECT_NE(model_hash(graph), hash);
}

}  // namespace
}  // namespace stagewright
