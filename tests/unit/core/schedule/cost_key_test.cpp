#include "core/schedule/cost_key.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

TEST(CostKey, LeadsBackToWhatTheOperationCosts) {
  Operation op;
  op.kind = OpKind::kGemm;
  op.dtype = DType::kBFloat16;
  op.transpose_b = true;
  op.accumulate = true;
  op.shape = {.rows = 512, .cols = 1024, .inner = 2048};
  op.inputs.resize(3);
  op.outputs.resize(1);
  const auto back = operation_of_key(cost_key(op));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, op);
  Operation attention;
  attention.kind = OpKind::kAttentionBackward;
  attention.dtype = DType::kFloat16;
  attention.causal = true;
  attention.shape = {.batch = 2, .sequence = 4096, .heads = 16, .kv_heads = 4, .head_dim = 128};
  attention.inputs.resize(5);
  attention.outputs.resize(3);
  EXPECT_EQ(operation_of_key(cost_key(attention)), attention);
  Operation copy;
  copy.kind = OpKind::kCopy;
  copy.dtype = DType::kBFloat16;
  copy.source = DType::kFloat32;
  copy.shape = {.rows = 7};
  copy.inputs.resize(1);
  copy.outputs.resize(1);
  EXPECT_EQ(operation_of_key(cost_key(copy)), copy);
}

TEST(CostKey, RefusesOtherText) {
  for (const char* text : {"",
                           "gemm",
                           "gemm bf16",
                           "gemm bf16 rows=-1 2>1",
                           "gemm bf16 rows=x 2>1",
                           "gemm bf16 rows=64 99999999>1",
                           "stone bf16 rows=64 2>1",
                           "gemm bf16 cols=2 rows=64 2>1"}) {
    EXPECT_FALSE(operation_of_key(text)) << text;
  }
}

}  // namespace
}  // namespace stagewright
