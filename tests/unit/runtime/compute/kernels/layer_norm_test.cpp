#include "runtime/compute/kernels/layer_norm.h"

#include <cmath>

#include <gtest/gtest.h>

#include "gradient_check.h"

namespace stagewright::kernels {
namespace {

constexpr Index kRows = 7;

Doubles reference(const Doubles& x, const Doubles& gamma, const Doubles& beta) {
  const std::size_t width = gamma.size();
  Doubles y(x.size());
  for (std::size_t row = 0; row < x.size(); row += width) {
    double mean = 0.0;
    double variance = 0.0;
    for (std::size_t i = 0; i < width; ++i) {
      mean += x[row + i] / static_cast<double>(width);
    }
    for (std::size_t i = 0; i < width; ++i) {
      variance += (x[row + i] - mean) * (x[row + i] - mean) / static_cast<double>(width);
    }
    for (std::size_t i = 0; i < width; ++i) {
      y[row + i] = (x[row + i] - mean) / std::sqrt(variance + 1e-5) * gamma[i] + beta[i];
    }
  }
  return y;
}

struct Forward {
  Floats y, mean, rstd;
  Forward(const Floats& x, const Floats& gamma, const Floats& beta)
      : y(x.size()), mean(kRows), rstd(kRows) {
    layer_norm_forward({.x = x.data(),
                        .gamma = gamma.data(),
                        .beta = beta.data(),
                        .y = y.data(),
                        .mean = mean.data(),
                        .rstd = rstd.data(),
                        .width = static_cast<Index>(gamma.size())},
                       kRows);
  }
};

TEST(LayerNorm, MatchesTheDoublePrecisionReference) {
  RandomInputs random(21);
  for (const Index width : {1, 7, 63, 65, 130}) {
    const Floats x = random.normal(kRows * width, 2.0F);
    const Floats gamma = random.normal(width);
    const Floats beta = random.normal(width);
    expect_near(Forward(x, gamma, beta).y,
                reference(to_double(x), to_double(gamma), to_double(beta)),
                2e-6);
  }
}

TEST(GradientCheck, LayerNorm) {
  RandomInputs random(22);
  for (const Index width : {7, 65, 130}) {
    const Floats x = random.normal(kRows * width);
    const Floats gamma = random.normal(width);
    const Floats beta = random.normal(width);
    const Floats dy = random.normal(kRows * width);
    const Forward saved(x, gamma, beta);
    Floats dx(x.size());
    layer_norm_input_gradient({.x = x.data(),
                               .gamma = gamma.data(),
                               .mean = saved.mean.data(),
                               .rstd = saved.rstd.data(),
                               .dy = dy.data(),
                               .residual = nullptr,
                               .dx = dx.data(),
                               .width = width},
                              kRows);
    Floats dgamma(gamma.size());
    Floats dbeta(beta.size());
    layer_norm_parameter_gradient({.x = x.data(),
                                   .mean = saved.mean.data(),
                                   .rstd = saved.rstd.data(),
                                   .dy = dy.data(),
                                   .dgamma = dgamma.data(),
                                   .dbeta = dbeta.data(),
                                   .width = width},
                                  kRows);
    const Doubles x64 = to_double(x);
    const Doubles gamma64 = to_double(gamma);
    const Doubles beta64 = to_double(beta);
    expect_gradient(x,
                    dx,
                    {[&](const Floats& v) { return dot(Forward(v, gamma, beta).y, dy); },
                     [&](const Doubles& v) { return dot(reference(v, gamma64, beta64), dy); }},
                    random);
    expect_gradient(gamma,
                    dgamma,
                    {[&](const Floats& v) { return dot(Forward(x, v, beta).y, dy); },
                     [&](const Doubles& v) { return dot(reference(x64, v, beta64), dy); }},
                    random);
    expect_gradient(beta,
                    dbeta,
                    {[&](const Floats& v) { return dot(Forward(x, gamma, v).y, dy); },
                     [&](const Doubles& v) { return dot(reference(x64, gamma64, v), dy); }},
                    random);
  }
}

// The residual gradient is added, and may lie where dx is written.
TEST(LayerNorm, AddsTheResidualGradient) {
  RandomInputs random(23);
  const Index width = 65;
  const Floats x = random.normal(kRows * width);
  const Floats gamma = random.normal(width);
  const Floats beta = random.normal(width);
  const Floats dy = random.normal(kRows * width);
  const Floats residual = random.normal(kRows * width);
  const Forward saved(x, gamma, beta);
  LayerNormInputGradient<float> call = {.x = x.data(),
                                        .gamma = gamma.data(),
                                        .mean = saved.mean.data(),
                                        .rstd = saved.rstd.data(),
                                        .dy = dy.data(),
                                        .residual = nullptr,
                                        .dx = nullptr,
                                        .width = width};
  Floats alone = dy;
  call.dy = alone.data();
  call.dx = alone.data();
  layer_norm_input_gradient(call, kRows);
  Floats together = residual;
  call.dy = dy.data();
  call.residual = together.data();
  call.dx = together.data();
  layer_norm_input_gradient(call, kRows);
  Doubles expected = to_double(alone);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] += static_cast<double>(residual[i]);
  }
  expect_near(together, expected, 2e-7);
}

}  // namespace
}  // namespace stagewright::kernels
