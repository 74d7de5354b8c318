#include "gradient_check.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

namespace stagewright::kernels {
namespace {

double norm(const Floats& x) {
  return std::sqrt(dot(x, x));
}

template <class Number>
std::vector<Number> moved(const Floats& x, const Floats& direction, double step) {
  std::vector<Number> result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    result[i] =
        static_cast<Number>(static_cast<double>(x[i]) + step * static_cast<double>(direction[i]));
  }
  return result;
}

template <class Number>
double central_difference(const std::function<double(const std::vector<Number>&)>& f,
                          const Floats& x,
                          const Floats& direction,
                          double step) {
  return (f(moved<Number>(x, direction, step)) - f(moved<Number>(x, direction, -step))) /
         (2.0 * step);
}

}  // namespace

Floats RandomInputs::normal(std::int64_t count, float deviation) {
  std::normal_distribution<float> distribution(0.0F, deviation);
  Floats result(static_cast<std::size_t>(count));
  std::generate(result.begin(), result.end(), [&] { return distribution(engine_); });
  return result;
}

std::vector<std::int32_t> RandomInputs::integers(std::int64_t count,
                                                 std::int32_t low,
                                                 std::int32_t high) {
  std::uniform_int_distribution<std::int32_t> distribution(low, high);
  std::vector<std::int32_t> result(static_cast<std::size_t>(count));
  std::generate(result.begin(), result.end(), [&] { return distribution(engine_); });
  return result;
}

Doubles to_double(const Floats& x) {
  return {x.begin(), x.end()};
}

double dot(const Floats& a, const Floats& b) {
  return dot(to_double(a), b);
}

double dot(const Doubles& a, const Floats& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * static_cast<double>(b[i]);
  }
  return sum;
}

void expect_near(const Floats& actual, const Doubles& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  double largest = 1.0;
  for (const double value : expected) {
    largest = std::max(largest, std::abs(value));
  }
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(actual[i]), expected[i], tolerance * largest)
        << "element " << i << " of " << actual.size();
  }
}

void expect_gradient(const Floats& x,
                     const Floats& gradient,
                     const Loss& loss,
                     RandomInputs& random) {
  ASSERT_EQ(x.size(), gradient.size());
  ASSERT_GT(norm(gradient), 0.0) << "a gradient of zero tests nothing";
  for (int direction = 0; direction < 5; ++direction) {
    SCOPED_TRACE("seed " + std::to_string(random.seed()) + ", direction " +
                 std::to_string(direction));
    const Floats u = random.normal(static_cast<std::int64_t>(x.size()), 0.1F);
    const double expected = dot(gradient, u);
    const double size = norm(gradient) * norm(u) / std::sqrt(static_cast<double>(x.size()));
    EXPECT_NEAR(central_difference<double>(loss.reference, x, u, 1e-5), expected, 2e-4 * size);
    EXPECT_NEAR(central_difference<float>(loss.kernel, x, u, 1e-2), expected, 1e-2 * size);
  }
}

}  // namespace stagewright::kernels
