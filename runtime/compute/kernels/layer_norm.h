#pragma once

#include <cmath>

#include "runtime/compute/kernels/operands_in_packs.h"
#include "runtime/compute/kernels/portable.h"

/// Layer normalisation (Ba et al. 2016) over the last axis.  Shapes: x, y, dx,
/// dy [rows, width]; gamma, beta [width]; mean, rstd [rows].
namespace stagewright::kernels {

/// y = (x - mean) * rstd * gamma + beta with rstd = 1 / sqrt(variance + epsilon).
/// Saves mean and rstd for the gradients.  y may be x.
template <class T>
struct LayerNormForward {
  const T* x;
  const float* gamma;
  const float* beta;
  T* y;
  float* mean;
  float* rstd;
  Index width;
  float epsilon = 1e-5F;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const T* in = x + row * width;
    T* out = y + row * width;
    const float inverse_width = 1.0F / static_cast<float>(width);
    const auto value = [](Index i, const T* v) { return static_cast<float>(v[i]); };
    const float mu = team.sum(width, over(value, reads(in))) * inverse_width;
    const auto square = [=](Index i, const T* v) {
      const float d = static_cast<float>(v[i]) - mu;
      return d * d;
    };
    const float variance = team.sum(width, over(square, reads(in))) * inverse_width;
    const float scale = 1.0F / std::sqrt(variance + epsilon);
    const auto normalize = [=](Index i, const T* v, const float* g, const float* b, T* o) {
      o[i] = static_cast<T>((static_cast<float>(v[i]) - mu) * scale * g[i] + b[i]);
    };
    team.each(width, over(normalize, reads(in), reads(gamma), reads(beta), writes(out)));
    team.once([&] {
      mean[row] = mu;
      rstd[row] = scale;
    });
  }
};

/// dx = gradient of the input (+ `residual`, the gradient that reaches x around
/// the norm; may be null).  dx may be dy or residual.
template <class T>
struct LayerNormInputGradient {
  const T* x;
  const float* gamma;
  const float* mean;
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
    const float mu = mean[row];
    const float scale = rstd[row];
    const float inverse_width = 1.0F / static_cast<float>(width);
    const auto weighted = [](Index i, const T* d, const float* g) {
      return static_cast<float>(d[i]) * g[i];
    };
    const float mean_grad =
        team.sum(width, over(weighted, reads(grad), reads(gamma))) * inverse_width;
    const auto dot = [=](Index i, const T* v, const T* d, const float* g) {
      return static_cast<float>(d[i]) * g[i] * (static_cast<float>(v[i]) - mu);
    };
    const float mean_dot =
        team.sum(width, over(dot, reads(in), reads(grad), reads(gamma))) * inverse_width * scale;
    const auto gradient = [=](Index i, const T* v, const T* d, const float* g) {
      const float normalized = (static_cast<float>(v[i]) - mu) * scale;
      return scale * (static_cast<float>(d[i]) * g[i] - mean_grad - normalized * mean_dot);
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

/// dgamma[c] += sum over rows of dy * (x - mean) * rstd.
template <class T>
struct LayerNormGammaGradient {
  const T* x;
  const float* mean;
  const float* rstd;
  const T* dy;
  float* dgamma;
  Index width;
  [[nodiscard]] SW_HOST_DEVICE float term(Index row, Index c) const {
    const Index i = row * width + c;
    return static_cast<float>(dy[i]) * (static_cast<float>(x[i]) - mean[row]) * rstd[row];
  }
  SW_HOST_DEVICE void store(Index c, float value) const { dgamma[c] += value; }
};

void layer_norm_forward(const LayerNormForward<float>& kernel, Index rows);
void layer_norm_input_gradient(const LayerNormInputGradient<float>& kernel, Index rows);

struct LayerNormParameterGradient {
  const float* x;
  const float* mean;
  const float* rstd;
  const float* dy;
  float* dgamma;
  float* dbeta;
  Index width;
};
/// Adds to dgamma and dbeta.
void layer_norm_parameter_gradient(const LayerNormParameterGradient& arguments, Index rows);

}  // namespace stagewright::kernels
