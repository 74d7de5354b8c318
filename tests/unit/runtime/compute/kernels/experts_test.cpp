#include "runtime/compute/kernels/experts.h"

#include <cmath>

#include <gtest/gtest.h>

#include "gradient_check.h"

namespace stagewright::kernels {
namespace {

constexpr Index kRows = 6;
constexpr Index kParts = 2;
constexpr Index kOwn = 2;
constexpr Index kExperts = kParts * kOwn;
constexpr Index kChosen = 2;
constexpr Index kLargest = kRows * 2;

struct Route {
  Floats gates = Floats(kRows * kChosen);
  std::vector<std::int32_t> choices = std::vector<std::int32_t>(kRows * kChosen);
  std::vector<std::int32_t> places = std::vector<std::int32_t>(kRows * kChosen);
  std::vector<std::int32_t> counts = std::vector<std::int32_t>(kExperts);
};

Route route(const Floats& scores) {
  Route route;
  choose_experts({.scores = scores.data(),
                  .gates = route.gates.data(),
                  .choices = route.choices.data(),
                  .experts = kParts * kOwn,
                  .chosen = kChosen},
                 kRows);
  place_rows({.choices = route.choices.data(),
              .places = route.places.data(),
              .counts = route.counts.data(),
              .choice_count = kRows * kChosen,
              .parts = kParts,
              .experts = kOwn,
              .largest = kLargest},
             1);
  return route;
}

const Floats kScores = {0, 3, 1, 2,  //
                        5, 5, 5, 5,  //
                        0, 0, 1, 1,  //
                        9, 0, 0, 8,  //
                        0, 1, 0, 1,  //
                        7, 6, 5, 4};

TEST(Experts, AreChosenByScoreAndOfEqualOnesTheFirst) {
  const Route routed = route(kScores);
  EXPECT_EQ(routed.choices, (std::vector<std::int32_t>{1, 3, 0, 1, 2, 3, 0, 3, 1, 3, 0, 1}));
  const float e = std::exp(-1.0F);
  EXPECT_FLOAT_EQ(routed.gates[0], 1.0F / (1.0F + e));
  EXPECT_FLOAT_EQ(routed.gates[1], e / (1.0F + e));
  EXPECT_FLOAT_EQ(routed.gates[2], 0.5F);
}

// By expert, within an expert by row, a member's experts in its own part.
TEST(Experts, RowsHavePlacesByExpert) {
  const Route routed = route(kScores);
  EXPECT_EQ(routed.counts, (std::vector<std::int32_t>{3, 4, 1, 4}));
  const std::int32_t second = kLargest;
  EXPECT_EQ(routed.places,
            (std::vector<std::int32_t>{
                3, second + 1, 0, 4, second, second + 2, 1, second + 3, 5, second + 4, 2, 6}));
}

TEST(Experts, RowsComeBackFromTheirPlaces) {
  RandomInputs random(91);
  constexpr Index kWidth = 5;
  const Route routed = route(random.normal(kRows * kExperts));
  const Floats x = random.normal(kRows * kWidth);
  Floats sent(kParts * kLargest * kWidth, 99.0F);
  dispatch_rows({.x = x.data(),
                 .places = routed.places.data(),
                 .y = sent.data(),
                 .width = kWidth,
                 .chosen = kChosen},
                kRows);
  Floats back(x.size());
  combine_rows({.y = sent.data(),
                .places = routed.places.data(),
                .gates = routed.gates.data(),
                .x = back.data(),
                .width = kWidth,
                .chosen = kChosen},
               kRows);
  expect_near(back, to_double(x), 1e-6);
  combine_rows({.y = sent.data(),
                .places = routed.places.data(),
                .gates = nullptr,
                .x = back.data(),
                .width = kWidth,
                .chosen = kChosen},
               kRows);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_FLOAT_EQ(back[i], 2 * x[i]);
  }
}

/// The experts' results of a loss, where what a row chose stays as it is.
struct Mixture {
  Index width = 5;
  Floats made;     ///< by counted row
  Floats weights;  ///< of the loss
  Route routed;
  float balance = 0;

  [[nodiscard]] double loss(const Doubles& scores) const {
    double total = 0;
    for (Index row = 0; row < kRows; ++row) {
      const auto at = static_cast<std::size_t>(row * kChosen);
      const double* s = scores.data() + row * kExperts;
      double sum = 0;
      for (std::size_t c = 0; c < kChosen; ++c) {
        sum += std::exp(s[routed.choices[at + c]]);
      }
      for (std::size_t c = 0; c < kChosen; ++c) {
        const double gate = std::exp(s[routed.choices[at + c]]) / sum;
        for (Index i = 0; i < width; ++i) {
          total += gate * made[static_cast<std::size_t>(routed.places[at + c] * width + i)] *
                   weights[static_cast<std::size_t>(row * width + i)];
        }
      }
      double all = 0;
      double weighted = 0;
      for (Index e = 0; e < kExperts; ++e) {
        const double share =
            static_cast<double>(routed.counts[static_cast<std::size_t>(e)]) / (kRows * kChosen);
        all += std::exp(s[e]);
        weighted += share * std::exp(s[e]);
      }
      total += balance * kExperts * weighted / all;
    }
    return total;
  }
};

TEST(GradientCheck, ScoresOfExperts) {
  RandomInputs random(92);
  for (const float balance : {0.0F, 0.5F}) {
    Mixture mixture;
    // Far enough apart that no small change makes another choice.
    Floats scores = random.normal(kRows * kExperts);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      scores[i] = static_cast<float>(i % kExperts) + 0.1F * scores[i];
    }
    mixture.routed = route(scores);
    mixture.made = random.normal(kParts * kLargest * mixture.width);
    mixture.weights = random.normal(kRows * mixture.width);
    mixture.balance = balance;
    Floats dmade(mixture.made.size());
    Floats dgates(kRows * kChosen);
    combine_rows_backward({.dx = mixture.weights.data(),
                           .y = mixture.made.data(),
                           .places = mixture.routed.places.data(),
                           .gates = mixture.routed.gates.data(),
                           .dy = dmade.data(),
                           .dgates = dgates.data(),
                           .width = mixture.width,
                           .chosen = kChosen},
                          kRows);
    Floats dscores(scores.size(), 99.0F);
    choose_experts_backward({.dgates = dgates.data(),
                             .gates = mixture.routed.gates.data(),
                             .choices = mixture.routed.choices.data(),
                             .dscores = dscores.data(),
                             .experts = kExperts,
                             .chosen = kChosen},
                            kRows);
    balance_gradient({.scores = scores.data(),
                      .choices = mixture.routed.choices.data(),
                      .dscores = dscores.data(),
                      .sequence = kRows,
                      .experts = kExperts,
                      .chosen = kChosen,
                      .scale = balance},
                     1);
    expect_gradient(scores,
                    dscores,
                    {[&](const Floats& s) { return mixture.loss(to_double(s)); },
                     [&](const Doubles& s) { return mixture.loss(s); }},
                    random);
    for (Index row = 0; row < kRows; ++row) {
      for (Index c = 0; c < kChosen; ++c) {
        const auto at = static_cast<std::size_t>(row * kChosen + c);
        const auto place = static_cast<std::size_t>(mixture.routed.places[at] * mixture.width);
        EXPECT_FLOAT_EQ(dmade[place],
                        mixture.routed.gates[at] *
                            mixture.weights[static_cast<std::size_t>(row * mixture.width)]);
      }
    }
  }
}

}  // namespace
}  // namespace stagewright::kernels
