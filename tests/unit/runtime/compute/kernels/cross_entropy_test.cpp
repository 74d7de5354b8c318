#include "runtime/compute/kernels/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "gradient_check.h"

namespace stagewright::kernels {
namespace {

constexpr Index kRows = 7;
constexpr float kScale = 0.25F;

// The logits [kRows, vocabulary] are divided among `slices.size()` ranks; a
// rank's rows are `padding` elements wider than its slice.
struct Divided {
  std::vector<Index> slices;
  Index padding;
  std::vector<std::int32_t> targets;
};

struct Outcome {
  double loss;
  Floats gradient;  // [kRows, vocabulary]
};

Index vocabulary_of(const Divided& d) {
  Index sum = 0;
  for (const Index slice : d.slices) {
    sum += slice;
  }
  return sum;
}

// What the ranks of a tensor-parallel group do, with the reductions in place.
Outcome run(const Floats& logits, const Divided& d) {
  const Index vocabulary = vocabulary_of(d);
  Floats largest(kRows, -INFINITY);
  Floats sums(kRows);
  Floats target_logits(kRows);
  std::vector<Floats> parts;
  Index begin = 0;
  for (const Index width : d.slices) {
    Floats part(static_cast<std::size_t>(kRows * (width + d.padding)), 1000.0F);
    Floats own(kRows);
    for (Index r = 0; r < kRows; ++r) {
      std::copy_n(
          logits.begin() + r * vocabulary + begin, width, part.begin() + r * (width + d.padding));
    }
    row_max(
        {.logits = part.data(), .row_max = own.data(), .width = width, .stride = width + d.padding},
        kRows);
    std::transform(own.begin(), own.end(), largest.begin(), largest.begin(), [](float a, float b) {
      return std::max(a, b);
    });
    parts.push_back(part);
    begin += width;
  }
  begin = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Floats own_sum(kRows);
    Floats own_target(kRows);
    row_sum_exp({.logits = parts[i].data(),
                 .row_max = largest.data(),
                 .targets = d.targets.data(),
                 .row_sum = own_sum.data(),
                 .target_logit = own_target.data(),
                 .width = d.slices[i],
                 .stride = d.slices[i] + d.padding,
                 .vocab_begin = begin},
                kRows);
    for (std::size_t r = 0; r < sums.size(); ++r) {
      sums[r] += own_sum[r];
      target_logits[r] += own_target[r];
    }
    begin += d.slices[i];
  }
  Outcome outcome = {.loss = cross_entropy_loss({.row_max = largest.data(),
                                                 .row_sum = sums.data(),
                                                 .target_logit = target_logits.data(),
                                                 .targets = d.targets.data()},
                                                kRows),
                     .gradient = Floats(logits.size())};
  begin = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Index width = d.slices[i];
    const Index stride = width + d.padding;
    cross_entropy_backward({.logits = parts[i].data(),
                            .row_max = largest.data(),
                            .row_sum = sums.data(),
                            .targets = d.targets.data(),
                            .dlogits = parts[i].data(),
                            .scale = kScale,
                            .width = width,
                            .stride = stride,
                            .vocab_begin = begin},
                           kRows);
    for (Index r = 0; r < kRows; ++r) {
      const auto row = parts[i].begin() + r * stride;
      std::copy_n(row, width, outcome.gradient.begin() + r * vocabulary + begin);
      EXPECT_EQ(std::count(row + width, row + stride, 0.0F), d.padding) << "padding has a gradient";
    }
    begin += width;
  }
  return outcome;
}

double reference(const Doubles& logits, const Divided& d) {
  const auto vocabulary = static_cast<std::size_t>(vocabulary_of(d));
  double loss = 0.0;
  for (std::size_t r = 0; r < kRows; ++r) {
    if (d.targets[r] < 0) {
      continue;
    }
    double sum = 0.0;
    for (std::size_t i = 0; i < vocabulary; ++i) {
      sum += std::exp(logits[r * vocabulary + i]);
    }
    loss += std::log(sum) - logits[r * vocabulary + static_cast<std::size_t>(d.targets[r])];
  }
  return loss;
}

std::vector<Divided> divisions(RandomInputs& random) {
  std::vector<Divided> result = {
      {{1}, 0, {}}, {{130}, 0, {}}, {{130}, 6, {}}, {{65, 65}, 0, {}}, {{63, 7, 1}, 2, {}}};
  for (Divided& d : result) {
    d.targets = random.integers(kRows, 0, static_cast<std::int32_t>(vocabulary_of(d)) - 1);
    d.targets[3] = -1;
  }
  return result;
}

TEST(CrossEntropy, MatchesTheDoublePrecisionReferenceForEveryDivisionOfTheVocabulary) {
  RandomInputs random(81);
  for (const Divided& d : divisions(random)) {
    const Floats logits = random.normal(kRows * vocabulary_of(d), 3.0F);
    const double expected = reference(to_double(logits), d);
    EXPECT_NEAR(run(logits, d).loss, expected, 1e-6 * std::max(1.0, expected));
  }
}

TEST(CrossEntropy, StaysFiniteForHugeLogits) {
  const Divided d = {{2}, 0, std::vector<std::int32_t>(kRows, 0)};
  Floats logits;
  for (Index r = 0; r < kRows; ++r) {
    logits.insert(logits.end(), {1e4F, -1e4F});
  }
  EXPECT_EQ(run(logits, d).loss, 0.0);
}

TEST(CrossEntropy, CountsTheTargetsThatAreNotIgnored) {
  const std::vector<std::int32_t> targets = {3, -1, 0, -100, 7};
  EXPECT_EQ(count_targets(targets.data(), 5), 3);
  EXPECT_EQ(count_targets(targets.data(), 0), 0);
}

TEST(GradientCheck, CrossEntropy) {
  RandomInputs random(82);
  for (const Divided& d : divisions(random)) {
    if (vocabulary_of(d) == 1) {
      continue;  // one word is always right: the gradient is zero
    }
    const Floats logits = random.normal(kRows * vocabulary_of(d), 2.0F);
    const auto scale = static_cast<double>(kScale);
    expect_gradient(logits,
                    run(logits, d).gradient,
                    {[&](const Floats& v) { return scale * run(v, d).loss; },
                     [&](const Doubles& v) { return scale * reference(v, d); }},
                    random);
  }
}

}  // namespace
}  // namespace stagewright::kernels
