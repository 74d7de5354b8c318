#include "runtime/compute/kernels/random.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "gradient_check.h"

namespace stagewright::kernels {
namespace {

std::vector<std::uint32_t> words(std::uint64_t counter, std::uint64_t stream, std::uint64_t seed) {
  const PhiloxWords block = philox(counter, stream, seed);
  return {std::begin(block.word), std::end(block.word)};
}

// The known answers that come with Random123 (tests/kat_vectors, philox4x32 10).
TEST(Philox, GivesThePublishedAnswers) {
  using Words = std::vector<std::uint32_t>;
  EXPECT_EQ(words(0, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint64_t ones = ~std::uint64_t{0};
  EXPECT_EQ(words(ones, ones, ones), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(words(0x85a308d3243f6a88, 0x0370734413198a2e, 0x299f31d0a4093822),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// A tensor [kRows, kWidth] and the part of it that some rank holds.
constexpr Index kRows = 9;
constexpr Index kWidth = 1030;

struct Part {
  Index first_row, rows, first_column, width;
};

const Part kParts[] = {{0, 9, 0, 1030},
                       {0, 4, 0, 1030},
                       {5, 3, 0, 1030},
                       {2, 7, 515, 515},
                       {1, 1, 1, 1},
                       {3, 2, 1023, 7},
                       {0, 9, 63, 600}};

Floats part_of(const Floats& whole, const Part& part) {
  Floats result;
  for (Index r = part.first_row; r < part.first_row + part.rows; ++r) {
    const auto begin = whole.begin() + r * kWidth + part.first_column;
    result.insert(result.end(), begin, begin + part.width);
  }
  return result;
}

Floats normals(const Part& part, std::uint64_t seed, std::uint64_t stream) {
  Floats y(static_cast<std::size_t>(part.rows * part.width));
  fill_normal({.y = y.data(),
               .rows = part.rows,
               .width = part.width,
               .slice = {.first_row = part.first_row,
                         .first_column = part.first_column,
                         .global_width = kWidth},
               .mean = 0.5,
               .deviation = 2.0,
               .seed = seed,
               .stream = stream});
  return y;
}

Floats dropped(const Floats& x, const Part& part, float probability) {
  Floats y(x.size());
  dropout({.x = x.data(),
           .y = y.data(),
           .width = part.width,
           .slice = {.first_row = part.first_row,
                     .first_column = part.first_column,
                     .global_width = kWidth},
           .probability = probability,
           .seed = 5,
           .stream = 6},
          part.rows);
  return y;
}

TEST(FillNormal, GivesEveryPartTheNumbersOfTheWhole) {
  const Floats whole = normals(kParts[0], 5, 6);
  for (const Part& part : kParts) {
    EXPECT_EQ(normals(part, 5, 6), part_of(whole, part));
  }
}

TEST(FillNormal, HasTheMomentsOfTheNormalDistribution) {
  const Floats x = normals(kParts[0], 5, 6);
  const auto n = static_cast<double>(x.size());
  double mean = 0.0;
  double square = 0.0;
  double fourth = 0.0;
  for (const float value : x) {
    const double z = (static_cast<double>(value) - 0.5) / 2.0;
    mean += z / n;
    square += z * z / n;
    fourth += z * z * z * z / n;
  }
  // Four standard errors: 1, sqrt(2) and sqrt(96) over sqrt(n).
  EXPECT_NEAR(mean, 0.0, 4.0 / std::sqrt(n));
  EXPECT_NEAR(square, 1.0, 4.0 * std::sqrt(2.0 / n));
  EXPECT_NEAR(fourth, 3.0, 4.0 * std::sqrt(96.0 / n));
}

TEST(FillNormal, DiffersBySeedAndStream) {
  EXPECT_NE(normals(kParts[0], 5, 6), normals(kParts[0], 5, 7));
  EXPECT_NE(normals(kParts[0], 5, 6), normals(kParts[0], 6, 6));
}

TEST(Dropout, DropsTheSameElementsForEveryPart) {
  RandomInputs random(101);
  const Floats x = random.normal(kRows * kWidth);
  const Floats whole = dropped(x, kParts[0], 0.3F);
  for (const Part& part : kParts) {
    EXPECT_EQ(dropped(part_of(x, part), part, 0.3F), part_of(whole, part));
  }
}

TEST(Dropout, DropsTheGivenShareAndScalesTheRest) {
  const Floats ones(static_cast<std::size_t>(kRows * kWidth), 1.0F);
  const auto n = static_cast<double>(ones.size());
  for (const float probability : {0.0F, 0.1F, 0.5F}) {
    const Floats y = dropped(ones, kParts[0], probability);
    const auto zeros = static_cast<double>(std::count(y.begin(), y.end(), 0.0F));
    const auto kept =
        static_cast<double>(std::count(y.begin(), y.end(), 1.0F / (1.0F - probability)));
    EXPECT_EQ(zeros + kept, n);
    // Four standard deviations of a binomial count.
    const auto p = static_cast<double>(probability);
    EXPECT_NEAR(zeros, n * p, 4.0 * std::sqrt(n * p * (1.0 - p)));
  }
}

// The mask is a constant, so the backward pass is the forward call on dy.  The
// reference takes the mask from what the whole tensor of ones gives.
TEST(GradientCheck, Dropout) {
  RandomInputs random(102);
  const Part part = {2, 3, 63, 130};
  const Floats x = random.normal(part.rows * part.width);
  const Floats dy = random.normal(part.rows * part.width);
  const Floats mask = part_of(
      dropped(Floats(static_cast<std::size_t>(kRows * kWidth), 1.0F), kParts[0], 0.5F), part);
  const auto reference = [&](const Doubles& v) {
    double sum = 0.0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      sum += v[i] * static_cast<double>(mask[i]) * static_cast<double>(dy[i]);
    }
    return sum;
  };
  expect_gradient(x,
                  dropped(dy, part, 0.5F),
                  {[&](const Floats& v) { return dot(dropped(v, part, 0.5F), dy); }, reference},
                  random);
}

}  // namespace
}  // namespace stagewright::kernels
