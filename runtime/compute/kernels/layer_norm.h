#pragma once

#include <cmath>

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
    const float* g = gamma;
    const float* b = beta;
    const float inverse_width = 1.0F / static_cast<float>(width);
    const float mu =
        team.sum(width, [=](Index i) { return static_cast<float>(in[i]); }) * inverse_width;
    const float variance = team.sum(width, [=](Index i) {
      const float d = static_cast<float>(in[i]) - mu;
      return d * d;
    }) * inverse_width;
    const float scale = 1.0F / std::sqrt(variance + epsilon);
    team.each(width, [=](Index i) {
      out[i] = static_cast<T>((static_cast<float>(in[i]) - mu) * scale * g[i] + b[i]);
    });
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
    const float* g = gamma;
    const float mu = mean[row];
    const float scale = rstd[row];
    const float inverse_width = 1.0F / static_cast<float>(width);
    const float mean_grad = team.sum(width, [=](Index i) {
      return static_cast<float>(grad[i]) * g[i];
    }) * inverse_width;
    const float mean_dot = team.sum(width, [=](Index i) {
      return static_cast<float>(grad[i]) * g[i] * (static_cast<float>(in[i]) - mu);
    }) * inverse_width * scale;
    const auto gradient = [=](Index i) {
      const float normalized = (static_cast<float>(in[i]) - mu) * scale;
      return scale * (static_cast<float>(grad[i]) * g[i] - mean_grad - normalized * mean_dot);
    };
    if (residual == nullptr) {
      team.each(width, [=](Index i) { out[i] = static_cast<T>(gradient(i)); });
    } else {
      const T* skip = residual + row * width;
      team.each(width, [=](Index i) {
        out[i] = static_cast<T>(static_cast<float>(skip[i]) + gradient(i));
      });
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
