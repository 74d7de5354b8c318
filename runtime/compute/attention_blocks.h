#pragma once

#include <algorithm>
#include <cmath>

#include "core/base/check.h"
#include "core/model/attention_workspace.h"
#include "runtime/compute/attention.h"
#include "runtime/compute/gemm.h"
#include "runtime/compute/kernels/attention_rows.h"

/// The order in which blockwise attention calls matrix products and row kernels, the same for all
/// devices.  `Steps` is what a device does:
///
///     void gemm(const Gemm&);
///     void rows(Index rows, const K& kernel);     // of attention_rows.h
///     void clear(float* x, Index count);          // zeros
///     float* column();                            // one number for each query of a block
namespace stagewright::kernels {

inline constexpr Index kBlock = kAttentionBlockRows;

inline float scale_of(const AttentionShape& shape) {
  return 1.0F / std::sqrt(static_cast<float>(shape.head_dim));
}

/// One query block of one head: where its matrices lie in the packed tensors.
struct QueryBlock {
  Index rows;          // queries
  AttentionMask mask;  // keys that any of them sees
  Index q;             // offset in qkv of the first query
  Index k, v;          // offsets of the first key in the tensor that holds the keys
  Index output;        // offset in output
  Index statistics;    // offset in log_sum_exp
};

inline Index packed_width(const AttentionShape& shape) {
  return (shape.heads + 2 * shape.kv_heads) * shape.head_dim;
}

inline Index output_width(const AttentionShape& shape) {
  return shape.heads * shape.head_dim;
}

/// The tensor that holds the keys and values: the packed one, or that of other tokens.
struct KeyLayout {
  Index width;        // of a row
  Index first_key;    // column of the first k head
  Index first_value;  // column of the first v head
};

inline KeyLayout key_layout(const AttentionShape& shape, const OtherTokens& others) {
  const Index keys = shape.kv_heads * shape.head_dim;
  if (others.kv != nullptr) {
    return {.width = 2 * keys, .first_key = 0, .first_value = keys};
  }
  return {.width = packed_width(shape),
          .first_key = output_width(shape),
          .first_value = output_width(shape) + keys};
}

/// Of other tokens, queries that see any, and keys that those see: all of them (TokenPlaces).
struct Window {
  Index first_query = 0;
  Index keys;
};

inline Window window_of(const AttentionShape& shape, const OtherTokens& others) {
  if (others.kv == nullptr || !shape.causal) {
    return {.keys = shape.sequence};
  }
  const bool earlier = others.part < others.own_part;
  return {.first_query = earlier ? 0 : shape.sequence / 2,
          .keys = earlier ? shape.sequence / 2 : shape.sequence};
}

template <class Body>
void for_each_block(const AttentionShape& shape, const OtherTokens& others, const Body& body) {
  SW_CHECK(shape.kv_heads > 0 && shape.heads % shape.kv_heads == 0, "kv_heads divides heads");
  const Index group = shape.heads / shape.kv_heads;
  const KeyLayout keys = key_layout(shape, others);
  const Window window = window_of(shape, others);
  const bool causal = shape.causal && others.kv == nullptr;
  for (Index b = 0; b < shape.batch; ++b) {
    const Index sequence_start = b * shape.sequence * keys.width;
    for (Index h = 0; h < shape.heads; ++h) {
      const Index head = h / group * shape.head_dim;
      for (Index first = window.first_query; first < shape.sequence; first += kBlock) {
        const Index rows = std::min(kBlock, shape.sequence - first);
        const Index token = b * shape.sequence + first;
        body(QueryBlock{
            .rows = rows,
            .mask = {.keys = causal ? first + rows : window.keys,
                     .first_visible = first + 1,
                     .causal = causal},
            .q = token * packed_width(shape) + h * shape.head_dim,
            .k = sequence_start + keys.first_key + head,
            .v = sequence_start + keys.first_value + head,
            .output = token * output_width(shape) + h * shape.head_dim,
            .statistics = (b * shape.heads + h) * shape.sequence + first,
        });
      }
    }
  }
}

/// C[rows, keys] = X Y^T of two matrices with head_dim columns.
template <class Steps>
void scores_of(Steps& on,
               const QueryBlock& block,
               const AttentionShape& shape,
               GemmOperand x,
               GemmOperand y,
               float* c) {
  y.form = Operand::kTransposed;
  on.gemm({.m = block.rows,
           .n = block.mask.keys,
           .k = shape.head_dim,
           .a = x,
           .b = y,
           .c = c,
           .c_stride = block.mask.keys});
}

enum class Sum : bool {
  kNew,
  kAdded
};

/// C[rows, head_dim] = P Y, or C += P Y, of a matrix of scores and one of keys or values.
template <class Steps>
void weighted_sum(Steps& on,
                  const QueryBlock& block,
                  const AttentionShape& shape,
                  const float* p,
                  GemmOperand y,
                  float* c,
                  Index c_stride,
                  Sum sum) {
  on.gemm({.m = block.rows,
           .n = shape.head_dim,
           .k = block.mask.keys,
           .a = {p, block.mask.keys},
           .b = y,
           .c = c,
           .c_stride = c_stride,
           .accumulate = sum == Sum::kAdded});
}

/// C[keys, head_dim] += P^T Y: what a block of queries adds to each key.
template <class Steps>
void add_to_keys(Steps& on,
                 const QueryBlock& block,
                 const AttentionShape& shape,
                 const float* p,
                 GemmOperand y,
                 float* c,
                 Index c_stride) {
  on.gemm({.m = block.mask.keys,
           .n = shape.head_dim,
           .k = block.rows,
           .a = {p, block.mask.keys, Operand::kTransposed},
           .b = y,
           .c = c,
           .c_stride = c_stride,
           .accumulate = true});
}

template <class Steps>
void attention_forward_by(Steps& on, const AttentionForward& arguments) {
  const AttentionShape& shape = arguments.shape;
  const OtherTokens& others = arguments.others;
  const float* keys = others.kv != nullptr ? others.kv : arguments.qkv;
  const Index key_stride = key_layout(shape, others).width;
  const Index stride = output_width(shape);
  float* const inverse_sum = on.column();
  float* scores = arguments.workspace;
  for_each_block(shape, others, [&](const QueryBlock& block) {
    float* output = arguments.output + block.output;
    float* log_sum_exp = arguments.log_sum_exp + block.statistics;
    const GemmOperand values = {keys + block.v, key_stride};
    scores_of(on,
              block,
              shape,
              {arguments.qkv + block.q, packed_width(shape)},
              {keys + block.k, key_stride},
              scores);
    if (others.kv != nullptr) {
      on.rows(block.rows,
              AttentionJoin{.scores = scores,
                            .output = output,
                            .log_sum_exp = log_sum_exp,
                            .keys = block.mask.keys,
                            .width = shape.head_dim,
                            .stride = stride,
                            .scale = scale_of(shape)});
      weighted_sum(on, block, shape, scores, values, output, stride, Sum::kAdded);
      return;
    }
    on.rows(block.rows,
            AttentionSoftmax{.scores = scores,
                             .inverse_sum = inverse_sum,
                             .log_sum_exp = log_sum_exp,
                             .mask = block.mask,
                             .scale = scale_of(shape)});
    weighted_sum(on, block, shape, scores, values, output, stride, Sum::kNew);
    on.rows(
        block.rows,
        ScaleRows{.y = output, .factor = inverse_sum, .width = shape.head_dim, .stride = stride});
  });
}

template <class Steps>
void attention_backward_by(Steps& on, const AttentionBackward& arguments) {
  const AttentionShape& shape = arguments.shape;
  const OtherTokens& others = arguments.others;
  const bool own = others.kv == nullptr;
  const Index packed = packed_width(shape);
  const float* keys = own ? arguments.qkv : others.kv;
  float* dkeys = own ? arguments.dqkv : arguments.dkv;
  const Index key_stride = key_layout(shape, others).width;
  float* const delta = on.column();
  float* probabilities = arguments.workspace;
  float* gradient = probabilities + kBlock * shape.sequence;
  if (own) {
    on.clear(arguments.dqkv, shape.batch * shape.sequence * packed);
  }
  for_each_block(shape, others, [&](const QueryBlock& block) {
    const GemmOperand q = {arguments.qkv + block.q, packed};
    const GemmOperand k = {keys + block.k, key_stride};
    const GemmOperand v = {keys + block.v, key_stride};
    const GemmOperand dout = {arguments.doutput + block.output, output_width(shape)};
    on.rows(block.rows,
            RowDot{.a = arguments.output + block.output,
                   .b = dout.data,
                   .result = delta,
                   .width = shape.head_dim,
                   .stride = dout.stride});
    scores_of(on, block, shape, q, k, probabilities);
    on.rows(block.rows,
            AttentionProbabilities{.scores = probabilities,
                                   .log_sum_exp = arguments.log_sum_exp + block.statistics,
                                   .mask = block.mask,
                                   .scale = scale_of(shape)});
    add_to_keys(on, block, shape, probabilities, dout, dkeys + block.v, key_stride);
    scores_of(on, block, shape, dout, v, gradient);
    on.rows(block.rows,
            AttentionScoreGradient{.probabilities = probabilities,
                                   .gradient = gradient,
                                   .delta = delta,
                                   .keys = block.mask.keys,
                                   .scale = scale_of(shape)});
    weighted_sum(on,
                 block,
                 shape,
                 gradient,
                 k,
                 arguments.dqkv + block.q,
                 packed,
                 own ? Sum::kNew : Sum::kAdded);
    add_to_keys(on, block, shape, gradient, q, dkeys + block.k, key_stride);
  });
}

}  // namespace stagewright::kernels
