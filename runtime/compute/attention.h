#pragma once

#include "core/base/units.h"
#include "runtime/compute/kernels/portable.h"

/// Scaled dot-product attention with several heads (Vaswani et al. 2017), also
/// with fewer key and value heads than query heads (grouped, Ainslie et al.
/// 2023).  Computed for 64 queries at a time from matrix products and row
/// kernels; the whole score matrix never exists, and the backward pass computes
/// the probabilities again from the saved log-sum-exp.
namespace stagewright::kernels {

struct AttentionShape {
  Index batch;
  Index sequence;
  Index heads;
  Index kv_heads;  ///< divides heads; query head h reads kv head h / (heads / kv_heads)
  Index head_dim;
  bool causal = true;  ///< a query sees the keys up to its own position
};

/// Scores are scaled by 1 / sqrt(head_dim).
struct AttentionForward {
  AttentionShape shape;
  const float* qkv;    ///< [batch * sequence, (heads + 2 kv_heads) * head_dim]: q, k, v heads
  float* output;       ///< [batch * sequence, heads * head_dim]
  float* log_sum_exp;  ///< [batch, heads, sequence], kept for the backward pass
  float* workspace;    ///< attention_forward_workspace(shape)
};
void attention_forward(const AttentionForward& arguments);
Bytes attention_forward_workspace(const AttentionShape& shape);

struct AttentionBackward {
  AttentionShape shape;
  const float* qkv;
  const float* output;
  const float* log_sum_exp;
  const float* doutput;  ///< gradient of output
  float* dqkv;           ///< gradient of qkv; must not be qkv
  float* workspace;      ///< attention_backward_workspace(shape)
};
void attention_backward(const AttentionBackward& arguments);
Bytes attention_backward_workspace(const AttentionShape& shape);

}  // namespace stagewright::kernels
