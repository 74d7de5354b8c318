#include "runtime/compute/kernels/rope.h"

#include <cmath>

#include <gtest/gtest.h>

#include "gradient_check.h"

namespace stagewright::kernels {
namespace {

struct Case {
  Index heads, kv_heads, head_dim;
  TokenPlaces places;
  double theta;
};

constexpr Index kTokens = 14;

const Case kCases[] = {{1, 1, 2, {.tokens = 7}, 10000.0},
                       {4, 2, 6, {.tokens = 7}, 10000.0},
                       {3, 1, 130, {.tokens = 14, .part = 585, .parts = 600}, 500000.0}};

Index packed(const Case& c) {
  return (c.heads + 2 * c.kv_heads) * c.head_dim;
}

Doubles reference(Doubles x, const Case& c) {
  for (Index token = 0; token < kTokens; ++token) {
    const auto position = static_cast<double>(c.places.in_sequence(token));
    for (Index head = 0; head < c.heads + c.kv_heads; ++head) {
      for (Index i = 0; i < c.head_dim / 2; ++i) {
        const double angle =
            position *
            std::pow(c.theta, -2.0 * static_cast<double>(i) / static_cast<double>(c.head_dim));
        const auto low = static_cast<std::size_t>(token * packed(c) + head * c.head_dim + i);
        const auto high = low + static_cast<std::size_t>(c.head_dim / 2);
        const double a = x[low];
        const double b = x[high];
        x[low] = a * std::cos(angle) - b * std::sin(angle);
        x[high] = b * std::cos(angle) + a * std::sin(angle);
      }
    }
  }
  return x;
}

Rope call(Floats& x, const Case& c) {
  return {.qkv = x.data(),
          .heads = c.heads,
          .kv_heads = c.kv_heads,
          .head_dim = c.head_dim,
          .places = c.places,
          .theta = c.theta};
}

Floats forward(Floats x, const Case& c) {
  rope_forward(call(x, c), kTokens);
  return x;
}

TEST(Rope, MatchesTheDoublePrecisionReference) {
  RandomInputs random(61);
  for (const Case& c : kCases) {
    const Floats x = random.normal(kTokens * packed(c));
    expect_near(forward(x, c), reference(to_double(x), c), 2e-7);
  }
}

TEST(Rope, ComputesSineAndCosineOfLargeAngles) {
  for (int i = -1000; i < 1000; ++i) {
    const double angle = 100.031 * i;
    const SineCosine turn = sine_cosine(angle);
    ASSERT_NEAR(turn.sine, std::sin(angle), 2e-11);
    ASSERT_NEAR(turn.cosine, std::cos(angle), 2e-11);
  }
}

TEST(GradientCheck, Rope) {
  RandomInputs random(62);
  for (const Case& c : kCases) {
    const Floats x = random.normal(kTokens * packed(c));
    const Floats dy = random.normal(kTokens * packed(c));
    Floats dx = dy;
    rope_backward(call(dx, c), kTokens);
    expect_gradient(x,
                    dx,
                    {[&](const Floats& v) { return dot(forward(v, c), dy); },
                     [&](const Doubles& v) { return dot(reference(v, c), dy); }},
                    random);
  }
}

}  // namespace
}  // namespace stagewright::kernels
