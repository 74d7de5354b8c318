#pragma once

#include <cmath>

#include "runtime/compute/kernels/portable.h"

/// Optimizer steps over flat ranges of parameters.  The parameters are float
/// (with low-precision training, the master copy).
namespace stagewright::kernels {

struct AdamWUpdate {
  float* parameters;
  const float* gradients;
  float* first_moment;
  float* second_moment;
  float learning_rate;
  float beta1, one_minus_beta1, correction1;
  float beta2, one_minus_beta2, correction2;
  float epsilon;
  float weight_decay;
  float coupled_decay;
  float gradient_scale;
  SW_HOST_DEVICE void operator()(Index i) const {
    const float p = parameters[i];
    const float g = gradients[i] * gradient_scale + coupled_decay * p;
    const float m = beta1 * first_moment[i] + one_minus_beta1 * g;
    const float v = beta2 * second_moment[i] + one_minus_beta2 * g * g;
    first_moment[i] = m;
    second_moment[i] = v;
    const float step = m * correction1 / (std::sqrt(v * correction2) + epsilon);
    parameters[i] = p - learning_rate * (step + weight_decay * p);
  }
  template <class Visitor>
  SW_HOST_DEVICE void operands(Visitor& visit) {
    visit.change(parameters);
    visit.read(gradients);
    visit.change(first_moment);
    visit.change(second_moment);
  }
};

struct SgdUpdate {
  float* parameters;
  const float* gradients;
  float* velocity;
  float learning_rate;
  float momentum;
  float weight_decay;
  float gradient_scale;
  SW_HOST_DEVICE void operator()(Index i) const {
    const float p = parameters[i];
    const float v = momentum * velocity[i] + (gradients[i] * gradient_scale + weight_decay * p);
    velocity[i] = v;
    parameters[i] = p - learning_rate * v;
  }
  template <class Visitor>
  SW_HOST_DEVICE void operands(Visitor& visit) {
    visit.change(parameters);
    visit.read(gradients);
    visit.change(velocity);
  }
};

struct PlainSgdUpdate {
  float* parameters;
  const float* gradients;
  float learning_rate;
  float weight_decay;
  float gradient_scale;
  SW_HOST_DEVICE void operator()(Index i) const {
    const float p = parameters[i];
    parameters[i] = p - learning_rate * (gradients[i] * gradient_scale + weight_decay * p);
  }
  template <class Visitor>
  SW_HOST_DEVICE void operands(Visitor& visit) {
    visit.change(parameters);
    visit.read(gradients);
  }
};

/// Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2):
/// p -= learning_rate * (m' / (sqrt(v') + epsilon) + weight_decay * p), with the
/// moments m', v' corrected for their start at 0.  Every array has the same range.
/// With `coupled` it is Adam (Kingma and Ba 2015, algorithm 1) on the gradient of
/// loss + weight_decay / 2 * |p|^2.
struct AdamW {
  float* parameters;
  const float* gradients;
  float* first_moment;   ///< 0 before the first step
  float* second_moment;  ///< 0 before the first step
  Index step;            ///< 1 for the first
  double learning_rate;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.0;
  bool coupled = false;
  double gradient_scale = 1.0;  ///< gradients count times this, for example clip_scale()
};
void adamw(const AdamW& arguments, Index count);
[[nodiscard]] AdamWUpdate adamw_update(const AdamW& arguments);

/// v = momentum * v + (gradient + weight_decay * p); p -= learning_rate * v.
struct Sgd {
  float* parameters;
  const float* gradients;
  float* velocity;  ///< 0 before the first step; may be null when momentum is 0
  double learning_rate;
  double momentum = 0.0;
  double weight_decay = 0.0;
  double gradient_scale = 1.0;
};
void sgd(const Sgd& arguments, Index count);
/// REQUIRES: a velocity.
[[nodiscard]] SgdUpdate sgd_update(const Sgd& arguments);
/// Without momentum.
[[nodiscard]] PlainSgdUpdate plain_sgd_update(const Sgd& arguments);

/// Sum of x[i]^2 in double, in an order that depends only on count and machine.
double sum_of_squares(const float* x, Index count);

/// What gradients of this global norm are multiplied with so that it is at most
/// max_norm.  A norm that is not finite gives NaN: the step must not be taken.
double clip_scale(double norm, double max_norm);

}  // namespace stagewright::kernels
