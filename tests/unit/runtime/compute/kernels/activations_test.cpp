#include "runtime/compute/kernels/activations.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "gradient_check.h"

namespace stagewright::kernels {
namespace {

double gelu(double x) {
  return 0.5 * x *
         (1.0 + std::tanh(std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

double relu(double x) {
  return std::max(x, 0.0);
}

Doubles each(const Doubles& x, double (*f)(double)) {
  Doubles y(x.size());
  std::transform(x.begin(), x.end(), y.begin(), f);
  return y;
}

Doubles swiglu(const Doubles& x, std::size_t width) {
  Doubles y;
  for (std::size_t row = 0; row < x.size(); row += 2 * width) {
    for (std::size_t i = 0; i < width; ++i) {
      y.push_back(x[row + i] / (1.0 + std::exp(-x[row + i])) * x[row + width + i]);
    }
  }
  return y;
}

Floats gelu_of(const Floats& x) {
  Floats y(x.size());
  gelu_forward({.x = x.data(), .y = y.data()}, static_cast<Index>(x.size()));
  return y;
}

Floats relu_of(const Floats& x) {
  Floats y(x.size());
  relu_forward({.x = x.data(), .y = y.data()}, static_cast<Index>(x.size()));
  return y;
}

Floats swiglu_of(const Floats& x, Index width) {
  Floats y(x.size() / 2);
  swiglu_forward({.x = x.data(), .y = y.data(), .width = width},
                 static_cast<Index>(y.size()) / width);
  return y;
}

TEST(Activations, MatchTheDoublePrecisionReference) {
  RandomInputs random(51);
  for (const Index n : {1, 7, 63, 65, 130}) {
    const Floats x = random.normal(n, 3.0F);
    expect_near(gelu_of(x), each(to_double(x), gelu), 5e-7);
    expect_near(relu_of(x), each(to_double(x), relu), 0.0);
    const Floats pair = random.normal(3 * 2 * n, 3.0F);
    expect_near(swiglu_of(pair, n), swiglu(to_double(pair), static_cast<std::size_t>(n)), 5e-7);
  }
}

TEST(Activations, AreFlatAndFiniteFarFromZero) {
  expect_near(gelu_of({-100.0F, 100.0F}), {0.0, 100.0}, 1e-30);
  expect_near(swiglu_of({-100.0F, 100.0F, 1.0F, 1.0F}, 2), {0.0, 100.0}, 1e-30);
}

TEST(GradientCheck, Gelu) {
  RandomInputs random(52);
  const Floats x = random.normal(130, 2.0F);
  const Floats dy = random.normal(130);
  Floats dx = dy;
  gelu_backward({.x = x.data(), .dy = dx.data(), .dx = dx.data()}, 130);
  expect_gradient(x,
                  dx,
                  {[&](const Floats& v) { return dot(gelu_of(v), dy); },
                   [&](const Doubles& v) { return dot(each(v, gelu), dy); }},
                  random);
}

// Inputs keep clear of the kink at 0, where no derivative exists.
TEST(GradientCheck, Relu) {
  RandomInputs random(53);
  Floats x = random.normal(130);
  for (float& v : x) {
    v += v < 0.0F ? -0.1F : 0.1F;
  }
  const Floats dy = random.normal(130);
  Floats dx(x.size());
  relu_backward({.x = x.data(), .dy = dy.data(), .dx = dx.data()}, 130);
  expect_gradient(x,
                  dx,
                  {[&](const Floats& v) { return dot(relu_of(v), dy); },
                   [&](const Doubles& v) { return dot(each(v, relu), dy); }},
                  random);
}

TEST(GradientCheck, Swiglu) {
  RandomInputs random(54);
  for (const Index width : {1, 7, 65}) {
    const Index rows = 7;
    const Floats x = random.normal(rows * 2 * width);
    const Floats dy = random.normal(rows * width);
    Floats dx = x;
    swiglu_backward({.x = dx.data(), .dy = dy.data(), .dx = dx.data(), .width = width}, rows);
    expect_gradient(
        x,
        dx,
        {[&](const Floats& v) { return dot(swiglu_of(v, width), dy); },
         [&](const Doubles& v) { return dot(swiglu(v, static_cast<std::size_t>(width)), dy); }},
        random);
  }
}

}  // namespace
}  // namespace stagewright::kernels
