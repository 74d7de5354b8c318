#include "runtime/compute/kernels/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <numeric>
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

// The ranks of a tensor-parallel group, each with its slice of the logits, and
// what the reductions between the phases leave on all of them.
class Group {
 public:
  Group(const Floats& logits, const Divided& division) : division_(division) {
    const auto width = static_cast<Index>(logits.size()) / kRows;
    Index begin = 0;
    for (const Index slice : division.slices) {
      Floats part(static_cast<std::size_t>(kRows * (slice + division.padding)), 1000.0F);
      for (Index r = 0; r < kRows; ++r) {
        std::copy_n(logits.begin() + r * width + begin,
                    slice,
                    part.begin() + r * (slice + division.padding));
      }
      ranks_.push_back({part, begin, slice, slice + division.padding});
      begin += slice;
    }
  }

  Outcome run() {
    for (const Rank& rank : ranks_) {
      maximum(rank);
    }
    for (const Rank& rank : ranks_) {
      sum(rank);
    }
    Outcome outcome = {
        .loss = cross_entropy_loss({.row_max = largest_.data(),
                                    .row_sum = sums_.data(),
                                    .target_logit = target_logits_.data(),
                                    .targets = division_.targets.data()},
                                   kRows),
        .gradient =
            Floats(static_cast<std::size_t>(kRows * (ranks_.back().begin + ranks_.back().width)))};
    for (Rank& rank : ranks_) {
      backward(rank, outcome.gradient);
    }
    return outcome;
  }

 private:
  struct Rank {
    Floats logits;
    Index begin, width, stride;
  };

  void maximum(const Rank& rank) {
    Floats own(kRows);
    row_max({.logits = rank.logits.data(),
             .row_max = own.data(),
             .width = rank.width,
             .stride = rank.stride},
            kRows);
    for (std::size_t r = 0; r < own.size(); ++r) {
      largest_[r] = std::max(largest_[r], own[r]);
    }
  }

  void sum(const Rank& rank) {
    Floats own_sum(kRows);
    Floats own_target(kRows);
    row_sum_exp({.logits = rank.logits.data(),
                 .row_max = largest_.data(),
                 .targets = division_.targets.data(),
                 .row_sum = own_sum.data(),
                 .target_logit = own_target.data(),
                 .width = rank.width,
                 .stride = rank.stride,
                 .vocab_begin = rank.begin},
                kRows);
    for (std::size_t r = 0; r < own_sum.size(); ++r) {
      sums_[r] += own_sum[r];
      target_logits_[r] += own_target[r];
    }
  }

  void backward(Rank& rank, Floats& whole) const {
    cross_entropy_backward({.logits = rank.logits.data(),
                            .row_max = largest_.data(),
                            .row_sum = sums_.data(),
                            .targets = division_.targets.data(),
                            .dlogits = rank.logits.data(),
                            .scale = kScale,
                            .width = rank.width,
                            .stride = rank.stride,
                            .vocab_begin = rank.begin},
                           kRows);
    const Index vocabulary = static_cast<Index>(whole.size()) / kRows;
    for (Index r = 0; r < kRows; ++r) {
      const auto row = rank.logits.begin() + r * rank.stride;
      std::copy_n(row, rank.width, whole.begin() + r * vocabulary + rank.begin);
      EXPECT_EQ(std::count(row + rank.width, row + rank.stride, 0.0F), rank.stride - rank.width)
          << "padding has a gradient";
    }
  }

  const Divided& division_;
  std::vector<Rank> ranks_;
  Floats largest_ = Floats(kRows, -INFINITY);
  Floats sums_ = Floats(kRows);
  Floats target_logits_ = Floats(kRows);
};

Outcome run(const Floats& logits, const Divided& division) {
  return Group(logits, division).run();
}

Index vocabulary_of(const Divided& d) {
  return std::accumulate(d.slices.begin(), d.slices.end(), Index{0});
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
