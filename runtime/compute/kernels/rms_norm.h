#pragma once

#include <cmath>

#include "runtime/compute/kernels/operands_in_packs.h"
#include "runtime/compute/kernels/portable.h"

/// Root-mean-square normalisation (Zhang and Sennrich 2019) over the last axis.
/// Shapes: x, y, dx, dy [rows, width]; gamma [width]; rstd [rows].
namespace stagewright::kernels {

/// y = x * rstd * gamma with rstd = 1 / sqrt(mean(x^2) + epsilon).  Saves rstd
/// for the gradients.  y may be x.
template <class T>
struct RmsNormForward {
  const T* x;
  const float* gamma;
  T* y;
  float* rstd;
  Index width;
  float epsilon = 1e-5F;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const T* in = x + row * width;
    T* out = y + row * width;
    const auto square = [](Index i, const T* x_row) {
      const auto v = static_cast<float>(x_row[i]);
      return v * v;
    };
    const float mean_square = team.sum(width, over(square, reads(in))) / static_cast<float>(width);
    const float scale = 1.0F / std::sqrt(mean_square + epsilon);
    const auto normalize = [=](Index i, const T* v, const float* g, T* o) {
      o[i] = static_cast<T>(static_cast<float>(v[i]) * scale * g[i]);
    };
    team.each(width, over(normalize, reads(in), reads(gamma), writes(out)));
    team.once([&] { rstd[row] = scale; });
  }
};

/// dx = gradient of the input (+ `residual`, the gradient that reaches x around
/// the norm; may be null).  dx may be dy or residual.
template <class T>
struct RmsNormInputGradient {
  const T* x;
  const float* gamma;
  const float* rstd;
  const T* dy;
  const T* residual;
  T* dx;
  Index width;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const T* in = x + row * width;
    const T* grad = dy + row * width;
    T* out = dx + row * width;
    const float scale = rstd[row];
    const auto dot = [](Index i, const T* v, const T* d, const float* g) {
      return static_cast<float>(d[i]) * g[i] * static_cast<float>(v[i]);
    };
    const float mean_dot = team.sum(width, over(dot, reads(in), reads(grad), reads(gamma))) /
                           static_cast<float>(width) * scale * scale;
    const auto gradient = [=](Index i, const T* v, const T* d, const float* g) {
      return scale * (static_cast<float>(d[i]) * g[i] - static_cast<float>(v[i]) * mean_dot);
    };
    if (residual == nullptr) {
      const auto store = [=](Index i, const T* v, const T* d, const float* g, T* o) {
        o[i] = static_cast<T>(gradient(i, v, d, g));
      };
      team.each(width, over(store, reads(in), reads(grad), reads(gamma), writes(out)));
    } else {
      const T* skip = residual + row * width;
      const auto store = [=](Index i, const T* v, const T* d, const float* g, const T* s, T* o) {
        o[i] = static_cast<T>(static_cast<float>(s[i]) + gradient(i, v, d, g));
      };
      team.each(width, over(store, reads(in), reads(grad), reads(gamma), reads(skip), writes(out)));
    }
  }
};

/// dgamma[c] += sum over rows of dy * x * rstd.
template <class T>
struct RmsNormParameterGradient {
  const T* x;
  const float* rstd;
  const T* dy;
  float* dgamma;
  Index width;
  [[nodiscard]] SW_HOST_DEVICE float term(Index row, Index c) const {
    const Index i = row * width + c;
    return static_cast<float>(dy[i]) * static_cast<float>(x[i]) * rstd[row];
  }
  SW_HOST_DEVICE void store(Index c, float value) const { dgamma[c] += value; }
};

void rms_norm_forward(const RmsNormForward<float>& kernel, Index rows);
void rms_norm_input_gradient(const RmsNormInputGradient<float>& kernel, Index rows);
void rms_norm_parameter_gradient(const RmsNormParameterGradient<float>& kernel, Index rows);

}  // namespace stagewright::kernels
