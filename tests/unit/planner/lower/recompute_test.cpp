#include "planner/lower/recompute.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

DraftOperation op(OpKind kind,
                  const std::vector<std::int32_t>& inputs,
                  const std::vector<std::int32_t>& outputs) {
  DraftOperation draft;
  draft.op.kind = kind;
  for (const std::int32_t input : inputs) {
    draft.op.inputs.emplace_back(input);
  }
  for (const std::int32_t output : outputs) {
    draft.op.outputs.emplace_back(output);
  }
  return draft;
}

// 0 -> norm -> 1 -> product -> 2 -> rotation in place -> 2 -> product -> 3 -> add 0 in place -> 3.
// The backward reads 1 and 2; 3 is only the layer's output.
TEST(OperationsToRepeat, LeavesOutWhatOnlyTheOutputNeeds) {
  const std::vector<DraftOperation> forward = {op(OpKind::kNormForward, {0}, {1}),
                                               op(OpKind::kGemm, {1}, {2}),
                                               op(OpKind::kRopeForward, {2}, {2}),
                                               op(OpKind::kGemm, {2}, {3}),
                                               op(OpKind::kAdd, {3, 0}, {3})};
  const std::vector<DraftOperation> backward = {op(OpKind::kGemm, {9, 2}, {8}),
                                                op(OpKind::kGemm, {8, 1}, {7})};
  EXPECT_EQ(operations_to_repeat(forward, backward),
            (std::vector<DraftOperation>(forward.begin(), forward.begin() + 3)));
}

TEST(OperationsToRepeat, IsEmptyWhereTheBackwardReadsNothingOfTheForward) {
  EXPECT_TRUE(
      operations_to_repeat({op(OpKind::kGemm, {0}, {1})}, {op(OpKind::kCopy, {0}, {2})}).empty());
}

// 1 is gathered into 2 again for the repeated product; 5, a gradient, is gathered by the backward
// alone.
TEST(SpareRepeatedGathers, TakesOutThoseOfTheSameTensor) {
  const std::vector<DraftOperation> repeated = {op(OpKind::kNormForward, {0}, {1}),
                                                op(OpKind::kAllGather, {1}, {2}),
                                                op(OpKind::kGemm, {2}, {3})};
  std::vector<DraftOperation> backward = {op(OpKind::kAllGather, {5}, {6}),
                                          op(OpKind::kAllGather, {1}, {2}),
                                          op(OpKind::kGemm, {6, 2}, {7})};
  const std::vector<DraftOperation> expected = {backward[0], backward[2]};
  spare_repeated_gathers(repeated, backward);
  EXPECT_EQ(backward, expected);
}

}  // namespace
}  // namespace stagewright
