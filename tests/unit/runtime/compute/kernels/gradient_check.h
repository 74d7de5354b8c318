#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace stagewright::kernels {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

/// Random inputs of a test.  The seed is printed when an expectation fails, by
/// SCOPED_TRACE in the caller or by the messages here.
class RandomInputs {
 public:
  explicit RandomInputs(std::uint32_t seed) : seed_(seed), engine_(seed) {}

  [[nodiscard]] std::uint32_t seed() const { return seed_; }
  /// Normal numbers of mean 0.
  Floats normal(std::int64_t count, float deviation = 1.0F);
  /// Whole numbers in [low, high].
  std::vector<std::int32_t> integers(std::int64_t count, std::int32_t low, std::int32_t high);

 private:
  std::uint32_t seed_;
  std::mt19937 engine_;
};

Doubles to_double(const Floats& x);

/// Sum of a[i] * b[i], in double: with fixed random weights b, a scalar "loss"
/// of any output.
double dot(const Floats& a, const Floats& b);
double dot(const Doubles& a, const Floats& b);

/// Every element within `tolerance` of the expected one, relative to the
/// largest expected magnitude (or 1 if all are smaller).
void expect_near(const Floats& actual, const Doubles& expected, double tolerance);

/// A scalar loss as a function of one input, computed twice.
struct Loss {
  /// By the kernel under test, summed in double.
  std::function<double(const Floats&)> kernel;
  /// By a naive implementation in double precision.
  std::function<double(const Doubles&)> reference;
};

/// Compares `gradient`, what the kernel says is the derivative of the loss at
/// `x`, with central differences along five random directions u:
///
///     (f(x + h u) - f(x - h u)) / 2h  against  <gradient, u>
///
/// of the reference (h = 1e-5, within 2e-4: the float rounding of the gradient)
/// and of the kernel's forward (h = 1e-2, within 1e-2: its float rounding is
/// divided by h), both relative to |gradient| |u| / sqrt(n), the typical size of
/// the right-hand side for n inputs.
void expect_gradient(const Floats& x,
                     const Floats& gradient,
                     const Loss& loss,
                     RandomInputs& random);

}  // namespace stagewright::kernels
