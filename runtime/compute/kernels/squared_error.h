#pragma once

#include <cstdint>

#include "runtime/compute/kernels/portable.h"

/// Squared distance of each row from the one-hot vector of its target, whose columns may be divided
/// among ranks like a vocabulary: see cross_entropy.h for targets, stride and padding.
/// Shapes: y, dy [rows, stride]; targets, row_sum [rows].
namespace stagewright::kernels {

/// row_sum[r] = sum over the slice of (y - one_hot(target))^2.
template <class T>
struct RowSquaredError {
  const T* y;
  const std::int32_t* targets;
  float* row_sum;
  Index width;
  Index stride;
  Index vocab_begin;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const T* in = y + row * stride;
    const float sum = team.sum(width, [=](Index i) {
      const auto value = static_cast<float>(in[i]);
      return value * value;
    });
    const Index target = targets[row] - vocab_begin;
    const bool mine = targets[row] >= 0 && target >= 0 && target < width;
    // (y - 1)^2 = y^2 - 2 y + 1.
    const float shift = mine ? 1.0F - 2.0F * static_cast<float>(in[target]) : 0.0F;
    team.once([&] { row_sum[row] = sum + shift; });
  }
};

/// dy = (y - one_hot(target)) * scale, 0 in rows that do not count; dy may be y.
template <class T>
struct SquaredErrorBackward {
  const T* y;
  const std::int32_t* targets;
  T* dy;
  float scale;
  Index width;
  Index stride;
  Index vocab_begin;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const T* in = y + row * stride;
    T* out = dy + row * stride;
    const Index padding = stride - width;
    T* tail = out + width;
    team.each(padding, [=](Index i) { tail[i] = static_cast<T>(0.0F); });
    const float factor = targets[row] < 0 ? 0.0F : scale;
    team.each(width, [=](Index i) { out[i] = static_cast<T>(static_cast<float>(in[i]) * factor); });
    team.sync();
    const Index target = targets[row] - vocab_begin;
    if (targets[row] >= 0 && target >= 0 && target < width) {
      team.once([=] { out[target] = static_cast<T>(static_cast<float>(out[target]) - factor); });
    }
  }
};

struct SquaredErrorLoss {
  const float* row_sum;
  const std::int32_t* targets;
};

void row_squared_error(const RowSquaredError<float>& kernel, Index rows);
/// Sum of row_sum over the counted tokens, in double and in row order.
double squared_error_loss(const SquaredErrorLoss& arguments, Index rows);
void squared_error_backward(const SquaredErrorBackward<float>& kernel, Index rows);

}  // namespace stagewright::kernels
