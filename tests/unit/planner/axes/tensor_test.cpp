#include "planner/axes/tensor.h"

#include <vector>

#include <gtest/gtest.h>

#include "tests/support/tiny_models.h"

namespace stagewright {
namespace {

constexpr TensorAxis kWhole{};
constexpr TensorAxis kFour{.degree = 4, .group = GroupSlot(1)};

LayerWeight fused_projection() {
  LayerWeight weight;
  weight.parameters = {{.name = "q", .shape = {16, 8}},
                       {.name = "k", .shape = {8, 8}},
                       {.name = "v", .shape = {8, 8}}};
  weight.split_axis = 0;
  return weight;
}

TEST(TensorAxis, DegreesDivideHeadsKvHeadsAndFeedForward) {
  EXPECT_EQ(tensor_degrees(tiny_gpt(1)), (std::vector<std::int32_t>{1, 2, 4}));
  EXPECT_EQ(tensor_degrees(tiny_llama(1)), (std::vector<std::int32_t>{1, 2}));
}

TEST(TensorAxis, ADegreeThatDoesNotDivideIsAnErrorWithThosePossible) {
  const Result<void> heads = check_tensor_degree(tiny_gpt(1), 3, "plan:/stages/0/tp");
  ASSERT_FALSE(heads);
  EXPECT_EQ(heads.error().to_string(),
            "plan:/stages/0/tp: tp is 3, which does not divide the 4 heads of tiny-gpt; tp can be "
            "1, 2, 4");
  const Result<void> kv_heads = check_tensor_degree(tiny_llama(1), 4, "plan:/stages/0/tp");
  ASSERT_FALSE(kv_heads);
  EXPECT_EQ(
      kv_heads.error().to_string(),
      "plan:/stages/0/tp: tp is 4, which does not divide the 2 kv heads of tiny-llama; tp can "
      "be 1, 2");
}

TEST(TensorAxis, AFusedWeightIsDividedParameterByParameter) {
  EXPECT_EQ(shard(kWhole, fused_projection()),
            (WeightShard{.shape = {32, 8}, .axis = {}, .parts = {{16, 0}, {8, 128}, {8, 192}}}));
  EXPECT_EQ(shard(kFour, fused_projection()),
            (WeightShard{.shape = {8, 8}, .axis = 0, .parts = {{4, 0}, {2, 32}, {2, 48}}}));
}

TEST(TensorAxis, AVocabularyIsPaddedToEqualShares) {
  LayerWeight table;
  table.parameters = {{.name = "table", .shape = {30, 16}}};
  table.split_axis = 0;
  EXPECT_EQ(shard(kFour, table), (WeightShard{.shape = {8, 16}, .axis = 0, .parts = {{8, 0}}}));
  LayerOp op;
  op.kind = LayerOpKind::kEmbedding;
  op.split = Split::kVocabulary;
  EXPECT_EQ(vocabulary_slice(kFour, op, 30),
            (Operation::Slice{.group = GroupSlot(1), .stride = 8, .total = 30}));
  EXPECT_EQ(vocabulary_slice(kWhole, op, 30),
            (Operation::Slice{.group = {}, .stride = 30, .total = 30}));
}

struct PartialCase {
  LayerOpKind kind;
  Split split;
  bool output = false;
  bool input_gradient = false;
};

TEST(TensorAxis, SaysWhichResultsArePartialSums) {
  const std::vector<PartialCase> cases = {
      {LayerOpKind::kLinear, Split::kColumn, false, true},
      {LayerOpKind::kLinear, Split::kRow, true, false},
      {LayerOpKind::kLinear, Split::kVocabulary, false, true},
      {LayerOpKind::kEmbedding, Split::kVocabulary, true, false},
      {LayerOpKind::kCrossEntropy, Split::kVocabulary, true, false},
      {LayerOpKind::kAttention, Split::kElementwise, false, false},
      {LayerOpKind::kNorm, Split::kNone, false, false},
  };
  for (const PartialCase& expected : cases) {
    LayerOp op;
    op.kind = expected.kind;
    op.split = expected.split;
    SCOPED_TRACE(static_cast<int>(expected.kind));
    EXPECT_EQ(output_is_partial(kFour, op), expected.output);
    EXPECT_EQ(input_gradient_is_partial(kFour, op), expected.input_gradient);
    EXPECT_FALSE(output_is_partial(kWhole, op));
    EXPECT_FALSE(input_gradient_is_partial(kWhole, op));
  }
}

}  // namespace
}  // namespace stagewright
