#include "runtime/compute/kernels/rms_norm.h"

#include <cmath>

#include <gtest/gtest.h>

#include "gradient_check.h"

namespace stagewright::kernels {
namespace {

constexpr Index kRows = 7;

Doubles reference(const Doubles& x, const Doubles& gamma) {
  const std::size_t width = gamma.size();
  Doubles y(x.size());
  for (std::size_t row = 0; row < x.size(); row += width) {
    double mean_square = 0.0;
    for (std::size_t i = 0; i < width; ++i) {
      mean_square += x[row + i] * x[row + i] / static_cast<double>(width);
    }
    for (std::size_t i = 0; i < width; ++i) {
      y[row + i] = x[row + i] / std::sqrt(mean_square + 1e-5) * gamma[i];
    }
  }
  return y;
}

struct Forward {
  Floats y, rstd;
  Forward(const Floats& x, const Floats& gamma) : y(x.size()), rstd(kRows) {
    rms_norm_forward({.x = x.data(),
                      .gamma = gamma.data(),
                      .y = y.data(),
                      .rstd = rstd.data(),
                      .width = static_cast<Index>(gamma.size())},
                     kRows);
  }
};

TEST(RmsNorm, MatchesTheDoublePrecisionReference) {
  RandomInputs random(31);
  for (const Index width : {1, 7, 63, 65, 130}) {
    const Floats x = random.normal(kRows * width, 2.0F);
    const Floats gamma = random.normal(width);
    expect_near(Forward(x, gamma).y, reference(to_double(x), to_double(gamma)), 2e-6);
  }
}

TEST(GradientCheck, RmsNorm) {
  RandomInputs random(32);
  for (const Index width : {7, 65, 130}) {
    const Floats x = random.normal(kRows * width);
    const Floats gamma = random.normal(width);
    const Floats dy = random.normal(kRows * width);
    const Forward saved(x, gamma);
    Floats dx(x.size());
    rms_norm_input_gradient({.x = x.data(),
                             .gamma = gamma.data(),
                             .rstd = saved.rstd.data(),
                             .dy = dy.data(),
                             .residual = nullptr,
                             .dx = dx.data(),
                             .width = width},
                            kRows);
    Floats dgamma(gamma.size());
    rms_norm_parameter_gradient({.x = x.data(),
                                 .rstd = saved.rstd.data(),
                                 .dy = dy.data(),
                                 .dgamma = dgamma.data(),
                                 .width = width},
                                kRows);
    const Doubles x64 = to_double(x);
    const Doubles gamma64 = to_double(gamma);
    expect_gradient(x,
                    dx,
                    {[&](const Floats& v) { return dot(Forward(v, gamma).y, dy); },
                     [&](const Doubles& v) { return dot(reference(v, gamma64), dy); }},
                    random);
    expect_gradient(gamma,
                    dgamma,
                    {[&](const Floats& v) { return dot(Forward(x, v).y, dy); },
                     [&](const Doubles& v) { return dot(reference(x64, v), dy); }},
                    random);
  }
}

TEST(RmsNorm, AddsTheResidualGradient) {
  const Floats x = {1, 2, 3};
  const Floats gamma = {1, 1, 1};
  const Floats dy = {0, 0, 0};
  const Floats rstd = {0.5F};
  Floats dx = {10, 20, 30};
  rms_norm_input_gradient({.x = x.data(),
                           .gamma = gamma.data(),
                           .rstd = rstd.data(),
                           .dy = dy.data(),
                           .residual = dx.data(),
                           .dx = dx.data(),
                           .width = 3},
                          1);
  EXPECT_EQ(dx, (Floats{10, 20, 30}));
}

}  // namespace
}  // namespace stagewright::kernels
