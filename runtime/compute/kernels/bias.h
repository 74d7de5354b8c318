#pragma once

#include "runtime/compute/kernels/operands_in_packs.h"
#include "runtime/compute/kernels/portable.h"

namespace stagewright::kernels {

/// y[r, c] = x[r, c] + bias[c]; y may be x.  Shapes: x, y [rows, width].
template <class T>
struct AddBias {
  const T* x;
  const float* bias;
  T* y;
  Index width;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const T* in = x + row * width;
    T* out = y + row * width;
    team.each(width,
              over(
                  [](Index i, const T* v, const float* b, T* o) {
                    o[i] = static_cast<T>(static_cast<float>(v[i]) + b[i]);
                  },
                  reads(in),
                  reads(bias),
                  writes(out)));
  }
};

/// y[r, c] = x[r, c] + bias[c] + residual[r, c]; y may be x or residual.
template <class T>
struct AddBiasResidual {
  const T* x;
  const float* bias;
  const T* residual;
  T* y;
  Index width;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const T* in = x + row * width;
    const T* skip = residual + row * width;
    T* out = y + row * width;
    team.each(width,
              over(
                  [](Index i, const T* v, const float* b, const T* s, T* o) {
                    o[i] =
                        static_cast<T>(static_cast<float>(v[i]) + b[i] + static_cast<float>(s[i]));
                  },
                  reads(in),
                  reads(bias),
                  reads(skip),
                  writes(out)));
  }
};

/// y[r, c] = bias[c].
template <class T>
struct BroadcastBias {
  const float* bias;
  T* y;
  Index width;
  Index stride;  ///< elements from one row of y to the next
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    T* out = y + row * stride;
    const float* b = bias;
    team.each(width, [=](Index i) { out[i] = static_cast<T>(b[i]); });
  }
};

/// sum[c] += sum over rows of x[r, c]: the gradient of a bias.
template <class T>
struct ColumnSum {
  const T* x;
  float* sum;
  Index width;
  [[nodiscard]] SW_HOST_DEVICE float term(Index row, Index c) const {
    return static_cast<float>(x[row * width + c]);
  }
  SW_HOST_DEVICE void store(Index c, float value) const { sum[c] += value; }
};

void add_bias(const AddBias<float>& kernel, Index rows);
void add_bias_residual(const AddBiasResidual<float>& kernel, Index rows);
void broadcast_bias(const BroadcastBias<float>& kernel, Index rows);
void column_sum(const ColumnSum<float>& kernel, Index rows);

}  // namespace stagewright::kernels
