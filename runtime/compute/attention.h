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

/// Keys and values of other tokens of the same sequences, which `qkv` does not hold.
struct OtherTokens {
  const float* kv = nullptr;  ///< [batch * sequence, 2 kv_heads * head_dim]: k heads, v heads
  Index part = 0;             ///< of the sequences: whose they are, and whose the queries
  Index own_part = 0;
};

/// Scores are scaled by 1 / sqrt(head_dim).
struct AttentionForward {
  AttentionShape shape;
  const float* qkv;    ///< [batch * sequence, (heads + 2 kv_heads) * head_dim]: q, k, v heads
  float* output;       ///< [batch * sequence, heads * head_dim]
  float* log_sum_exp;  ///< [batch, heads, sequence], kept for the backward pass
  float* workspace;    ///< attention_forward_workspace(shape)
  /// If given, the queries attend to these instead, as far as they see them (TokenPlaces), and what
  /// `output` and `log_sum_exp` tell of still others is joined with them.
  OtherTokens others{};
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
  /// As in the forward.  Then it adds: to the columns of the queries in dqkv, and to dkv.
  OtherTokens others{};
  float* dkv = nullptr;  ///< gradient of others.kv
};
void attention_backward(const AttentionBackward& arguments);
Bytes attention_backward_workspace(const AttentionShape& shape);

}  // namespace stagewright::kernels
