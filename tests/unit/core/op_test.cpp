#include "core/model/op.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

TEST(Op, EveryKindAndVariantReadsBackFromItsName) {
  std::set<std::string_view> names;
  for (int i = 0; i < kOpKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    EXPECT_EQ(op_kind_named(name_of(kind)), kind);
    names.insert(name_of(kind));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kOpKindCount));
  for (const OpVariant variant : {OpVariant::kNone, OpVariant::kSwiGlu, OpVariant::kMaximum}) {
    EXPECT_EQ(op_variant_named(name_of(variant)), variant);
  }
  EXPECT_EQ(op_kind_named("gem"), std::nullopt);
  EXPECT_EQ(name_of(OpKind::kAllToAll), "all-to-all");
  EXPECT_EQ(name_of(OpVariant::kMaximum), "maximum");
}

TEST(Op, AProductCountsTwoPerMultiplyAdd) {
  OpShape shape;
  shape.rows = 3;
  shape.cols = 5;
  shape.inner = 7;
  EXPECT_EQ(flops_of(OpKind::kGemm, OpVariant::kNone, shape, false), Flops(210));
  // 3 x 7 and 7 x 5 in, 3 x 5 out
  EXPECT_EQ(elements_moved(OpKind::kGemm, OpVariant::kNone, shape), 21 + 35 + 15);
}

TEST(Op, CausalAttentionCountsHalfOfTheScores) {
  OpShape shape;
  shape.batch = 2;
  shape.sequence = 8;
  shape.heads = 4;
  shape.kv_heads = 2;
  shape.head_dim = 16;
  // 2 products x 2 operations x batch x heads x sequence^2 x head_dim
  const double whole = 2.0 * 2 * 2 * 4 * 64 * 16;
  EXPECT_EQ(flops_of(OpKind::kAttentionForward, OpVariant::kNone, shape, false), Flops(whole));
  EXPECT_EQ(flops_of(OpKind::kAttentionForward, OpVariant::kNone, shape, true), Flops(whole / 2));
  EXPECT_EQ(flops_of(OpKind::kAttentionBackward, OpVariant::kNone, shape, true), Flops(whole));
  // 16 tokens: packed qkv of (4 + 2 * 2) * 16, output of 4 * 16, 4 log-sums
  EXPECT_EQ(elements_moved(OpKind::kAttentionForward, OpVariant::kNone, shape),
            16 * (128 + 64 + 4));
}

TEST(Op, TheAdamWStepReadsTheGradientAndUpdatesThreeTensors) {
  OpShape shape;
  shape.cols = 10;
  EXPECT_EQ(elements_moved(OpKind::kAdamWStep, OpVariant::kNone, shape), 70);
  EXPECT_EQ(class_of(OpKind::kAdamWStep), OpClass::kOptimizer);
}

}  // namespace
}  // namespace stagewright
