#include "runtime/compute/kernels/element_wise.h"

#include <gtest/gtest.h>

#include "gradient_check.h"

namespace stagewright::kernels {
namespace {

TEST(ElementWise, FillsAddsScalesAndAccumulates) {
  RandomInputs random(1);
  for (const Index n : {0, 1, 7, 63, 65, 130}) {
    const Floats a = random.normal(n);
    const Floats b = random.normal(n);
    Floats filled(a.size());
    Floats added(a.size());
    Floats scaled = a;
    Floats accumulated = b;
    fill({.y = filled.data(), .value = 0.25F}, n);
    add({.a = a.data(), .b = b.data(), .y = added.data()}, n);
    scale({.x = scaled.data(), .y = scaled.data(), .factor = -3.0F}, n);
    accumulate({.x = a.data(), .sum = accumulated.data(), .factor = 0.5F}, n);
    Doubles sum(a.size());
    Doubles triple(a.size());
    Doubles half(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto x = static_cast<double>(a[i]);
      const auto y = static_cast<double>(b[i]);
      sum[i] = x + y;
      triple[i] = -3.0 * x;
      half[i] = y + 0.5 * x;
    }
    EXPECT_EQ(filled, Floats(a.size(), 0.25F));
    expect_near(added, sum, 1e-7);
    expect_near(scaled, triple, 1e-7);
    expect_near(accumulated, half, 2e-7);
  }
}

TEST(GradientCheck, Add) {
  // y = a + b: the gradient of either is dy itself, which is why lowering passes it on untouched.
  RandomInputs random(2);
  const Index n = 130;
  const Floats a = random.normal(n);
  const Floats b = random.normal(n);
  const Floats dy = random.normal(n);
  const auto forward = [&](const Floats& v) {
    Floats y(v.size());
    add({.a = v.data(), .b = b.data(), .y = y.data()}, n);
    return dot(y, dy);
  };
  const auto reference = [&](const Doubles& v) {
    Doubles y(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) {
      y[i] = v[i] + static_cast<double>(b[i]);
    }
    return dot(y, dy);
  };
  expect_gradient(a, dy, {forward, reference}, random);
}

}  // namespace
}  // namespace stagewright::kernels
