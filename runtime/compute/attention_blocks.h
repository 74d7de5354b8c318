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
  Index q, k, v;       // offsets in qkv; q of the first query, k and v of the first key
  Index output;        // offset in output
  Index statistics;    // offset in log_sum_exp
};

inline Index packed_width(const AttentionShape& shape) {
  return (shape.heads + 2 * shape.kv_heads) * shape.head_dim;
}

inline Index output_width(const AttentionShape& shape) {
  return shape.heads * shape.head_dim;
}

template <class Body>
void for_each_block(const AttentionShape& shape, const Body& body) {
  SW_CHECK(shape.kv_heads > 0 && shape.heads % shape.kv_heads == 0, "kv_heads divides heads");
  const Index group = shape.heads / shape.kv_heads;
  for (Index b = 0; b < shape.batch; ++b) {
    const Index sequence_start = b * shape.sequence * packed_width(shape);
    for (Index h = 0; h < shape.heads; ++h) {
      for (Index first = 0; first < shape.sequence; first += kBlock) {
        const Index rows = std::min(kBlock, shape.sequence - first);
        const Index token = b * shape.sequence + first;
        const Index kv = h / group;
        body(QueryBlock{
            .rows = rows,
            .mask = {.keys = shape.causal ? first + rows : shape.sequence,
                     .first_visible = first + 1,
                     .causal = shape.causal},
            .q = token * packed_width(shape) + h * shape.head_dim,
            .k = sequence_start + (shape.heads + kv) * shape.head_dim,
            .v = sequence_start + (shape.heads + shape.kv_heads + kv) * shape.head_dim,
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

/// C[rows, head_dim] = P Y of a matrix of scores and one of keys or values.
template <class Steps>
void weighted_sum(Steps& on,
                  const QueryBlock& block,
                  const AttentionShape& shape,
                  const float* p,
                  GemmOperand y,
                  float* c,
                  Index c_stride) {
  on.gemm({.m = block.rows,
           .n = shape.head_dim,
           .k = block.mask.keys,
           .a = {p, block.mask.keys},
           .b = y,
           .c = c,
           .c_stride = c_stride});
}

/// C[keys, head_dim] += P^T Y: what a block of queries adds to each key.
template <class Steps>
void add_to_keys(Steps& on,
                 const QueryBlock& block,
                 const AttentionShape& shape,
                 const float* p,
                 GemmOperand y,
                 float* c) {
  on.gemm({.m = block.mask.keys,
           .n = shape.head_dim,
           .k = block.rows,
           .a = {p, block.mask.keys, Operand::kTransposed},
           .b = y,
           .c = c,
           .c_stride = packed_width(shape),
           .accumulate = true});
}

template <class Steps>
void attention_forward_by(Steps& on, const AttentionForward& arguments) {
  const AttentionShape& shape = arguments.shape;
  const Index packed = packed_width(shape);
  float* const inverse_sum = on.column();
  float* scores = arguments.workspace;
  for_each_block(shape, [&](const QueryBlock& block) {
    scores_of(on,
              block,
              shape,
              {arguments.qkv + block.q, packed},
              {arguments.qkv + block.k, packed},
              scores);
    on.rows(block.rows,
            AttentionSoftmax{.scores = scores,
                             .inverse_sum = inverse_sum,
                             .log_sum_exp = arguments.log_sum_exp + block.statistics,
                             .mask = block.mask,
                             .scale = scale_of(shape)});
    float* output = arguments.output + block.output;
    weighted_sum(
        on, block, shape, scores, {arguments.qkv + block.v, packed}, output, output_width(shape));
    on.rows(block.rows,
            ScaleRows{.y = output,
                      .factor = inverse_sum,
                      .width = shape.head_dim,
                      .stride = output_width(shape)});
  });
}

template <class Steps>
void attention_backward_by(Steps& on, const AttentionBackward& arguments) {
  const AttentionShape& shape = arguments.shape;
  const Index packed = packed_width(shape);
  float* const delta = on.column();
  float* probabilities = arguments.workspace;
  float* gradient = probabilities + kBlock * shape.sequence;
  on.clear(arguments.dqkv, shape.batch * shape.sequence * packed);
  for_each_block(shape, [&](const QueryBlock& block) {
    const GemmOperand q = {arguments.qkv + block.q, packed};
    const GemmOperand k = {arguments.qkv + block.k, packed};
    const GemmOperand v = {arguments.qkv + block.v, packed};
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
    add_to_keys(on, block, shape, probabilities, dout, arguments.dqkv + block.v);
    scores_of(on, block, shape, dout, v, gradient);
    on.rows(block.rows,
            AttentionScoreGradient{.probabilities = probabilities,
                                   .gradient = gradient,
                                   .delta = delta,
                                   .keys = block.mask.keys,
                                   .scale = scale_of(shape)});
    weighted_sum(on, block, shape, gradient, k, arguments.dqkv + block.q, packed);
    add_to_keys(on, block, shape, gradient, q, arguments.dqkv + block.k);
  });
}

}  // namespace stagewright::kernels
