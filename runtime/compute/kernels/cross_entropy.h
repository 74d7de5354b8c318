#pragma once

#include <cstdint>

#include "runtime/compute/kernels/float_math.h"
#include "runtime/compute/kernels/operands_in_packs.h"
#include "runtime/compute/kernels/portable.h"

/// Cross entropy over a vocabulary that may be divided among ranks, each with
/// the logits of `width` words from `vocab_begin` on.  Three phases, with a
/// reduction over the ranks after the first two (Megatron-LM's form):
///
///   1. row_max       -> maximum over the ranks
///   2. row_sum_exp   -> sum over the ranks of row_sum and target_logit
///   3. cross_entropy_loss, and cross_entropy_backward on the own slice
///
/// A negative target marks a token that counts neither in the loss nor in the
/// gradient.  Rows are `stride` >= width elements apart; what lies between is
/// padding of the vocabulary: never read, and its gradient is 0.
///
/// Shapes: logits, dlogits [rows, stride]; targets, row_max, row_sum,
/// target_logit [rows].
namespace stagewright::kernels {

/// row_max[r] = largest logit of the slice.
template <class T>
struct RowMax {
  const T* logits;
  float* row_max;
  Index width;
  Index stride;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const T* in = logits + row * stride;
    const auto value = [](Index i, const T* x) { return static_cast<float>(x[i]); };
    const float largest = team.max(width, over(value, reads(in)));
    team.once([&] { row_max[row] = largest; });
  }
};

/// row_sum[r] = sum of exp(logit - row_max[r]); target_logit[r] = logit of the
/// target, 0 when it is in another slice or ignored.
template <class T>
struct RowSumExp {
  const T* logits;
  const float* row_max;
  const std::int32_t* targets;
  float* row_sum;
  float* target_logit;
  Index width;
  Index stride;
  Index vocab_begin;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const T* in = logits + row * stride;
    const float largest = row_max[row];
    const auto weight = [=](Index i, const T* x) {
      return fast_exp(static_cast<float>(x[i]) - largest);
    };
    const float sum = team.sum(width, over(weight, reads(in)));
    const Index target = targets[row] - vocab_begin;
    const bool mine = targets[row] >= 0 && target >= 0 && target < width;
    team.once([&] {
      row_sum[row] = sum;
      target_logit[row] = mine ? static_cast<float>(in[target]) : 0.0F;
    });
  }
};

/// dlogits = (softmax(logits) - one_hot(target)) * scale; dlogits may be logits.
template <class T>
struct CrossEntropyBackward {
  const T* logits;
  const float* row_max;
  const float* row_sum;
  const std::int32_t* targets;
  T* dlogits;
  float scale;
  Index width;
  Index stride;
  Index vocab_begin;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const T* in = logits + row * stride;
    T* out = dlogits + row * stride;
    const Index padding = stride - width;
    T* tail = out + width;
    team.each(padding, [=](Index i) { tail[i] = static_cast<T>(0.0F); });
    if (targets[row] < 0) {
      team.each(width, [=](Index i) { out[i] = static_cast<T>(0.0F); });
      return;
    }
    const float largest = row_max[row];
    const float factor = scale / row_sum[row];
    const auto share = [=](Index i, const T* x, T* o) {
      o[i] = static_cast<T>(fast_exp(static_cast<float>(x[i]) - largest) * factor);
    };
    team.each(width, over(share, reads(in), writes(out)));
    team.sync();
    const Index target = targets[row] - vocab_begin;
    if (target >= 0 && target < width) {
      const float one = scale;
      team.once([=] { out[target] = static_cast<T>(static_cast<float>(out[target]) - one); });
    }
  }
};

struct CrossEntropyLoss {
  const float* row_max;
  const float* row_sum;
  const float* target_logit;
  const std::int32_t* targets;
};

void row_max(const RowMax<float>& kernel, Index rows);
void row_sum_exp(const RowSumExp<float>& kernel, Index rows);
/// Sum over the counted tokens of log(row_sum) + row_max - target_logit, in
/// double and in row order: every rank of the group gets the same loss.
double cross_entropy_loss(const CrossEntropyLoss& arguments, Index rows);
void cross_entropy_backward(const CrossEntropyBackward<float>& kernel, Index rows);

/// Tokens that are not ignored.
Index count_targets(const std::int32_t* targets, Index rows);

}  // namespace stagewright::kernels
