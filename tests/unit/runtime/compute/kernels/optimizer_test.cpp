#include "runtime/compute/kernels/optimizer.h"

#include <cmath>

#include <gtest/gtest.h>

#include "gradient_check.h"

namespace stagewright::kernels {
namespace {

TEST(AdamW, FollowsTheTextbookFormulaInDouble) {
  RandomInputs random(91);
  const Index count = 130;
  Floats p = random.normal(count);
  Floats m(p.size());
  Floats v(p.size());
  Doubles p64 = to_double(p);
  Doubles m64(p.size());
  Doubles v64(p.size());
  for (int step = 1; step <= 10; ++step) {
    const Floats g = random.normal(count);
    adamw({.parameters = p.data(),
           .gradients = g.data(),
           .first_moment = m.data(),
           .second_moment = v.data(),
           .step = step,
           .learning_rate = 1e-2,
           .beta1 = 0.9,
           .beta2 = 0.95,
           .epsilon = 1e-8,
           .weight_decay = 0.1,
           .gradient_scale = 0.5},
          count);
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double gradient = 0.5 * static_cast<double>(g[i]);
      m64[i] = 0.9 * m64[i] + 0.1 * gradient;
      v64[i] = 0.95 * v64[i] + 0.05 * gradient * gradient;
      const double m_hat = m64[i] / (1.0 - std::pow(0.9, step));
      const double v_hat = v64[i] / (1.0 - std::pow(0.95, step));
      p64[i] -= 1e-2 * (m_hat / (std::sqrt(v_hat) + 1e-8) + 0.1 * p64[i]);
    }
  }
  expect_near(p, p64, 1e-6);
  expect_near(m, m64, 1e-6);
  expect_near(v, v64, 1e-6);
}

// Kingma and Ba 2015, algorithm 1, on the gradient of loss + decay / 2 * |p|^2.
TEST(Adam, CountsWeightDecayInTheGradient) {
  RandomInputs random(92);
  const Index count = 70;
  Floats p = random.normal(count);
  Floats m(p.size());
  Floats v(p.size());
  Doubles p64 = to_double(p);
  Doubles m64(p.size());
  Doubles v64(p.size());
  for (int step = 1; step <= 10; ++step) {
    const Floats g = random.normal(count);
    adamw({.parameters = p.data(),
           .gradients = g.data(),
           .first_moment = m.data(),
           .second_moment = v.data(),
           .step = step,
           .learning_rate = 1e-2,
           .beta1 = 0.9,
           .beta2 = 0.95,
           .epsilon = 1e-8,
           .weight_decay = 0.1,
           .coupled = true,
           .gradient_scale = 0.5},
          count);
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double gradient = 0.5 * static_cast<double>(g[i]) + 0.1 * p64[i];
      m64[i] = 0.9 * m64[i] + 0.1 * gradient;
      v64[i] = 0.95 * v64[i] + 0.05 * gradient * gradient;
      const double m_hat = m64[i] / (1.0 - std::pow(0.9, step));
      const double v_hat = v64[i] / (1.0 - std::pow(0.95, step));
      p64[i] -= 1e-2 * m_hat / (std::sqrt(v_hat) + 1e-8);
    }
  }
  expect_near(p, p64, 1e-6);
  expect_near(v, v64, 1e-6);
}

// The first corrected moments of any gradient g are g and g^2.
TEST(AdamW, MovesByTheLearningRateInTheFirstStep) {
  Floats p = {1.0F, 1.0F, 1.0F};
  const Floats g = {1e-3F, -5.0F, 0.0F};
  Floats m(3);
  Floats v(3);
  adamw({.parameters = p.data(),
         .gradients = g.data(),
         .first_moment = m.data(),
         .second_moment = v.data(),
         .step = 1,
         .learning_rate = 0.125},
        3);
  expect_near(p, {0.875, 1.125, 1.0}, 2e-6);
}

TEST(Sgd, FollowsTheTextbookFormulaInDouble) {
  RandomInputs random(92);
  const Index count = 65;
  for (const double momentum : {0.0, 0.9}) {
    Floats p = random.normal(count);
    Floats v(p.size());
    Doubles p64 = to_double(p);
    Doubles v64(p.size());
    for (int step = 1; step <= 10; ++step) {
      const Floats g = random.normal(count);
      sgd({.parameters = p.data(),
           .gradients = g.data(),
           .velocity = momentum == 0.0 ? nullptr : v.data(),
           .learning_rate = 0.1,
           .momentum = momentum,
           .weight_decay = 0.01,
           .gradient_scale = 2.0},
          count);
      for (std::size_t i = 0; i < p.size(); ++i) {
        v64[i] = momentum * v64[i] + 2.0 * static_cast<double>(g[i]) + 0.01 * p64[i];
        p64[i] -= 0.1 * v64[i];
      }
    }
    expect_near(p, p64, 1e-6);
  }
}

TEST(GradientNorm, SumsSquaresInDouble) {
  RandomInputs random(93);
  for (const Index count : {0, 1, 7, 63, 65, 130, 100001}) {
    const Floats x = random.normal(count);
    const double expected = dot(x, x);
    EXPECT_NEAR(sum_of_squares(x.data(), count), expected, 1e-12 * expected);
  }
}

TEST(GradientNorm, IsClippedOnlyAboveTheLimit) {
  EXPECT_EQ(clip_scale(0.0, 1.0), 1.0);
  EXPECT_EQ(clip_scale(1.0, 1.0), 1.0);
  EXPECT_EQ(clip_scale(4.0, 1.0), 0.25);
  EXPECT_TRUE(std::isnan(clip_scale(INFINITY, 1.0)));
  EXPECT_TRUE(std::isnan(clip_scale(NAN, 1.0)));
}

}  // namespace
}  // namespace stagewright::kernels
