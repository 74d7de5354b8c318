#pragma once

#include "runtime/compute/kernels/float_math.h"
#include "runtime/compute/kernels/operands_in_packs.h"
#include "runtime/compute/kernels/portable.h"

namespace stagewright::kernels {

/// The argument 2 u of GELU in its tanh form (Hendrycks and Gimpel 2016, as in
/// GPT-2): 0.5 x (1 + tanh(u)) = x sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3).
SW_HOST_DEVICE float gelu_argument(float x) {
  return 1.5957691216F * (x + 0.044715F * x * x * x);
}

/// y = gelu(x); y may be x.
template <class T>
struct GeluForward {
  const T* x;
  T* y;
  SW_HOST_DEVICE void operator()(Index i) const {
    const auto v = static_cast<float>(x[i]);
    y[i] = static_cast<T>(v * sigmoid(gelu_argument(v)));
  }
  template <class Visitor>
  SW_HOST_DEVICE void operands(Visitor& visit) {
    visit.read(x);
    visit.write(y);
  }
};

/// dx = dy gelu'(x); dx may be dy or x.
template <class T>
struct GeluBackward {
  const T* x;
  const T* dy;
  T* dx;
  SW_HOST_DEVICE void operator()(Index i) const {
    const auto v = static_cast<float>(x[i]);
    const float s = sigmoid(gelu_argument(v));
    const float slope = 1.5957691216F * (1.0F + 0.134145F * v * v);
    dx[i] = static_cast<T>(static_cast<float>(dy[i]) * s * (1.0F + v * (1.0F - s) * slope));
  }
  template <class Visitor>
  SW_HOST_DEVICE void operands(Visitor& visit) {
    visit.read(x);
    visit.read(dy);
    visit.write(dx);
  }
};

/// y = max(x, 0); y may be x.
template <class T>
struct ReluForward {
  const T* x;
  T* y;
  SW_HOST_DEVICE void operator()(Index i) const {
    const auto v = static_cast<float>(x[i]);
    y[i] = static_cast<T>(v > 0.0F ? v : 0.0F);
  }
  template <class Visitor>
  SW_HOST_DEVICE void operands(Visitor& visit) {
    visit.read(x);
    visit.write(y);
  }
};

/// dx = dy where x > 0, else 0; dx may be dy or x.
template <class T>
struct ReluBackward {
  const T* x;
  const T* dy;
  T* dx;
  SW_HOST_DEVICE void operator()(Index i) const {
    const auto g = static_cast<float>(dy[i]);
    dx[i] = static_cast<T>(static_cast<float>(x[i]) > 0.0F ? g : 0.0F);
  }
  template <class Visitor>
  SW_HOST_DEVICE void operands(Visitor& visit) {
    visit.read(x);
    visit.read(dy);
    visit.write(dx);
  }
};

/// y = gate sigmoid(gate) up (Shazeer 2020).  Shapes: x [rows, 2 width] holds
/// `width` gates, then `width` ups, in each row; y [rows, width].
template <class T>
struct SwigluForward {
  const T* x;
  T* y;
  Index width;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const T* gate = x + row * 2 * width;
    const T* up = gate + width;
    T* out = y + row * width;
    team.each(width,
              over(
                  [](Index i, const T* gates, const T* ups, T* o) {
                    const auto g = static_cast<float>(gates[i]);
                    o[i] = static_cast<T>(g * sigmoid(g) * static_cast<float>(ups[i]));
                  },
                  reads(gate),
                  reads(up),
                  writes(out)));
  }
};

/// The gradient of the input, [rows, 2 width] like x; dx may be x.
template <class T>
struct SwigluBackward {
  const T* x;
  const T* dy;
  T* dx;
  Index width;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const T* gate = x + row * 2 * width;
    const T* up = gate + width;
    const T* grad = dy + row * width;
    T* gate_gradient = dx + row * 2 * width;
    T* up_gradient = gate_gradient + width;
    team.each(width,
              over(
                  [](Index i, const T* gates, const T* ups, const T* grads, T* dgate, T* dup) {
                    const auto g = static_cast<float>(gates[i]);
                    const auto u = static_cast<float>(ups[i]);
                    const auto d = static_cast<float>(grads[i]);
                    const float s = sigmoid(g);
                    dgate[i] = static_cast<T>(d * u * s * (1.0F + g * (1.0F - s)));
                    dup[i] = static_cast<T>(d * g * s);
                  },
                  reads(gate),
                  reads(up),
                  reads(grad),
                  writes(gate_gradient),
                  writes(up_gradient)));
  }
};

void gelu_forward(const GeluForward<float>& kernel, Index count);
void gelu_backward(const GeluBackward<float>& kernel, Index count);
void relu_forward(const ReluForward<float>& kernel, Index count);
void relu_backward(const ReluBackward<float>& kernel, Index count);
void swiglu_forward(const SwigluForward<float>& kernel, Index rows);
void swiglu_backward(const SwigluBackward<float>& kernel, Index rows);

}  // namespace stagewright::kernels
