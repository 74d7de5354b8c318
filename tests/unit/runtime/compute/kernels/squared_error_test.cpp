#include "runtime/compute/kernels/squared_error.h"

#include <vector>

#include <gtest/gtest.h>

#include "gradient_check.h"

namespace stagewright::kernels {
namespace {

constexpr Index kRows = 5;
constexpr Index kWidth = 7;
const std::vector<std::int32_t> kTargets = {0, 6, -1, 3, 4};

/// Sum over the rows that count of (y - one hot)^2.
template <class T>
double reference(const std::vector<T>& y) {
  double sum = 0;
  for (Index r = 0; r < kRows; ++r) {
    const std::int32_t target = kTargets[static_cast<std::size_t>(r)];
    for (Index c = 0; target >= 0 && c < kWidth; ++c) {
      const double error =
          static_cast<double>(y[static_cast<std::size_t>(r * kWidth + c)]) - (c == target ? 1 : 0);
      sum += error * error;
    }
  }
  return sum;
}

/// A rank's columns [begin, end) of y, `padding` elements behind each row.
struct Part {
  Index begin;
  Index end;
  Index padding;
};

Floats part_of(const Floats& y, const Part& part) {
  Floats columns;
  for (Index r = 0; r < kRows; ++r) {
    for (Index c = part.begin; c < part.end; ++c) {
      columns.push_back(y[static_cast<std::size_t>(r * kWidth + c)]);
    }
    columns.insert(columns.end(), static_cast<std::size_t>(part.padding), 1000.0F);
  }
  return columns;
}

Floats row_sums(const Floats& y, const Part& part) {
  const Floats columns = part_of(y, part);
  Floats sums(kRows);
  row_squared_error({.y = columns.data(),
                     .targets = kTargets.data(),
                     .row_sum = sums.data(),
                     .width = part.end - part.begin,
                     .stride = part.end - part.begin + part.padding,
                     .vocab_begin = part.begin},
                    kRows);
  return sums;
}

double loss_of(const Floats& sums) {
  return squared_error_loss({.row_sum = sums.data(), .targets = kTargets.data()}, kRows);
}

TEST(SquaredError, IsTheSumOverDividedColumns) {
  RandomInputs random(17);
  const Floats y = random.normal(kRows * kWidth);
  EXPECT_NEAR(loss_of(row_sums(y, {0, kWidth, 2})), reference(y), 1e-5 * reference(y));
  Floats sums = row_sums(y, {0, 4, 0});
  const Floats others = row_sums(y, {4, kWidth, 1});
  for (std::size_t r = 0; r < sums.size(); ++r) {
    sums[r] += others[r];
  }
  EXPECT_NEAR(loss_of(sums), reference(y), 1e-5 * reference(y));
}

TEST(SquaredError, HasHalfItsGradientInTheBackward) {
  RandomInputs random(18);
  const Floats y = random.normal(kRows * kWidth);
  Floats gradient = y;
  squared_error_backward({.y = gradient.data(),
                          .targets = kTargets.data(),
                          .dy = gradient.data(),
                          .scale = 2.0F,
                          .width = kWidth,
                          .stride = kWidth,
                          .vocab_begin = 0},
                         kRows);
  expect_gradient(y,
                  gradient,
                  {.kernel =
                       [](const Floats& at) {
                         return loss_of(row_sums(at, {0, kWidth, 0}));
                       },
                   .reference = [](const Doubles& at) { return reference(at); }},
                  random);
}

TEST(SquaredError, LeavesPaddingAndIgnoredRowsWithoutGradient) {
  Floats gradient = part_of(Floats(kRows * kWidth, 0.5F), {2, 5, 1});
  squared_error_backward({.y = gradient.data(),
                          .targets = kTargets.data(),
                          .dy = gradient.data(),
                          .scale = 1.0F,
                          .width = 3,
                          .stride = 4,
                          .vocab_begin = 2},
                         kRows);
  EXPECT_EQ(gradient, (Floats{0.5F, 0.5F, 0.5F, 0,     0.5F, 0.5F, 0.5F, 0,    0,     0,
                              0,    0,    0.5F, -0.5F, 0.5F, 0,    0.5F, 0.5F, -0.5F, 0}));
}

}  // namespace
}  // namespace stagewright::kernels
