#include "runtime/compute/kernels/bias.h"

#include <gtest/gtest.h>

#include "gradient_check.h"

namespace stagewright::kernels {
namespace {

TEST(Bias, IsAddedToEveryRow) {
  RandomInputs random(2);
  const Index rows = 7;
  for (const Index width : {1, 7, 63, 65, 130}) {
    const Floats x = random.normal(rows * width);
    const Floats bias = random.normal(width);
    const Floats residual = random.normal(rows * width);
    Floats y(x.size());
    Floats z = x;
    add_bias({.x = x.data(), .bias = bias.data(), .y = y.data(), .width = width}, rows);
    add_bias_residual({.x = z.data(),
                       .bias = bias.data(),
                       .residual = residual.data(),
                       .y = z.data(),
                       .width = width},
                      rows);
    Doubles biased(x.size());
    Doubles both(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      biased[i] = static_cast<double>(x[i]) + static_cast<double>(bias[i % bias.size()]);
      both[i] = biased[i] + static_cast<double>(residual[i]);
    }
    expect_near(y, biased, 1e-7);
    expect_near(z, both, 2e-7);
  }
}

// d(sum of w * (x + bias)) / d(bias[c]) is the sum of column c of w.
TEST(GradientCheck, Bias) {
  RandomInputs random(3);
  for (const Index rows : {1, 7, 130, 300}) {
    const Index width = 65;
    const Floats x = random.normal(rows * width);
    const Floats weights = random.normal(rows * width);
    const Floats bias = random.normal(width);
    Floats gradient(bias.size());
    column_sum({.x = weights.data(), .sum = gradient.data(), .width = width}, rows);
    const auto kernel = [&](const Floats& b) {
      Floats y(x.size());
      add_bias({.x = x.data(), .bias = b.data(), .y = y.data(), .width = width}, rows);
      return dot(y, weights);
    };
    const auto reference = [&](const Doubles& b) {
      Doubles y(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        y[i] = static_cast<double>(x[i]) + b[i % b.size()];
      }
      return dot(y, weights);
    };
    expect_gradient(bias, gradient, {kernel, reference}, random);
  }
}

TEST(ColumnSum, AddsToWhatIsThere) {
  const Floats x = {1, 2, 3, 4, 5, 6};
  Floats sum = {100, 200, 300};
  column_sum({.x = x.data(), .sum = sum.data(), .width = 3}, 2);
  EXPECT_EQ(sum, (Floats{105, 207, 309}));
}

}  // namespace
}  // namespace stagewright::kernels
