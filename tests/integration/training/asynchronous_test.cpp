#include <cmath>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "core/schedule/semantics.h"
#include "planner/lower/lower.h"
#include "runtime/trainer/sampled_batches.h"
#include "tests/integration/training/delayed_reference.h"
#include "tests/integration/training/layouts.h"
#include "tests/integration/training/trained_weights.h"

namespace stagewright {
namespace {

constexpr std::int32_t kSteps = 4;

struct Case {
  Layout layout;
  WeightUpdates updates;
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.layout.name;
}

/// An asynchronous pipeline against one rank with the same delays.
class Asynchronous : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    plan_ = plan_of(model_, GetParam().layout, optimizer());
    if (GetParam().updates.one_behind) {
      plan_.schedule_parameters["update_every"] = GetParam().updates.every;
    }
    auto schedule = lower(model_, cluster_of(GetParam().layout), plan_);
    ASSERT_TRUE(schedule) << schedule.error().to_string();
    schedule_ = *std::move(schedule);
  }

  /// Slow enough to be stable without clipping and with one sequence an update.
  static OptimizerSpec optimizer() {
    OptimizerSpec optimizer = without_clipping(sgd());
    optimizer.learning_rate = 0.05;
    return optimizer;
  }

  /// Names of the parameters of each stage.
  [[nodiscard]] std::vector<std::vector<std::string>> stages() const {
    std::vector<std::vector<std::string>> names;
    for (const RankProgram& program : schedule_.programs) {
      auto& of_stage = names.emplace_back();
      for (const ParameterSlice& slice : program.parameters) {
        of_stage.push_back(slice.name);
      }
    }
    return names;
  }

  ModelGraph model_ = small_model(Style::kLlama);
  Plan plan_;
  Schedule schedule_;
};

TEST_P(Asynchronous, GivesTheLossesAndWeightsOfOneRankWithTheSameDelays) {
  const auto report = train(schedule_, kSteps);
  ASSERT_TRUE(report) << report.error().to_string();
  const DelayedTraining expected = train_with_delays(
      model_, GetParam().layout, optimizer(), GetParam().updates, stages(), kSteps);
  ASSERT_EQ(report->trace.losses.size(), expected.losses.size());
  for (std::size_t step = 0; step < expected.losses.size(); ++step) {
    EXPECT_NEAR(report->trace.losses[step], expected.losses[step], 1e-5 * expected.losses[step]);
  }
  EXPECT_LT(expected.losses.back(), expected.losses.front());
  for (const RankWeights& weights : trained_weights(schedule_, kSteps)) {
    for (const auto& [name, values] : weights) {
      const std::vector<float>& wanted = expected.weights.at(name);
      for (std::size_t i = 0; i < values.size(); ++i) {
        ASSERT_NEAR(values[i], wanted[i], 1e-5) << name << " element " << i;
      }
    }
  }
}

// A delay that made no difference would prove nothing.
TEST_P(Asynchronous, DiffersFromTrainingWithoutDelays) {
  const auto report = train(schedule_, kSteps);
  Layout flushed = GetParam().layout;
  flushed.schedule = "1f1b";
  const auto plain = train(schedule_of(model_, flushed, optimizer()), kSteps);
  ASSERT_TRUE(report && plain);
  EXPECT_GT(std::abs(report->trace.losses.back() - plain->trace.losses.back()), 1e-4);
}

// Narayanan et al. 2019: as many versions as ranks from here on; 2021: two.
TEST_P(Asynchronous, KeepsAsManyVersionsAsThePapersSay) {
  const std::int32_t ranks = GetParam().layout.pp;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    const std::size_t versions =
        GetParam().updates.one_behind ? 2U : static_cast<std::size_t>(ranks - rank);
    for (const ParameterSlice& slice : schedule_.programs[index].parameters) {
      EXPECT_EQ(1 + slice.other_versions.size(), versions) << "rank " << rank;
    }
  }
}

// Forward and backward on different weights would be the gradient of no function.
TEST_P(Asynchronous, ABackwardOnOtherWeightsThanItsForwardIsRefused) {
  int refused = 0;
  for (std::size_t p = 0; p < schedule_.programs.size(); ++p) {
    for (std::size_t i = 0; i < schedule_.programs[p].actions.size(); ++i) {
      Schedule mutant = schedule_;
      Action& action = mutant.programs[p].actions[i];
      const std::int32_t versions =
          is_compute(action.kind) ? mutant.programs[p].versions_of(action.stage) : 1;
      if (versions > 1 && action.kind == ActionKind::kBackward) {
        action.version = static_cast<std::uint16_t>((action.version + 1) % versions);
        const Result<void> valid = validate(mutant);
        ASSERT_FALSE(valid) << to_string(action);
        EXPECT_NE(valid.error().message.find("than"), std::string::npos);
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts,
    Asynchronous,
    testing::Values(Case{{.name = "pp2_pipedream", .pp = 2, .schedule = "pipedream"}, {.every = 1}},
                    Case{{.name = "pp4_pipedream", .pp = 4, .schedule = "pipedream"}, {.every = 1}},
                    Case{{.name = "dp2_pp2_pipedream", .dp = 2, .pp = 2, .schedule = "pipedream"},
                         {.every = 1}},
                    Case{{.name = "pp2_cp2_pipedream", .pp = 2, .cp = 2, .schedule = "pipedream"},
                         {.every = 1}},
                    Case{{.name = "pp2_cp2_2bw", .pp = 2, .cp = 2, .schedule = "pipedream-2bw"},
                         {.every = 2, .one_behind = true}},
                    Case{{.name = "pp2_2bw", .pp = 2, .schedule = "pipedream-2bw"},
                         {.every = 2, .one_behind = true}},
                    Case{{.name = "pp4_2bw", .pp = 4, .schedule = "pipedream-2bw"},
                         {.every = 4, .one_behind = true}},
                    Case{{.name = "pp3_2bw_once", .pp = 3, .schedule = "pipedream-2bw"},
                         {.every = 8, .one_behind = true}}),
    [](const auto& chosen) { return chosen.param.layout.name; });

/// Gives the micro-batches of a step one by one to steps of one micro-batch each.
class OneByOne final : public MicroBatchSource {
 public:
  OneByOne(const MicroBatchSource& source, std::int32_t micro_batches)
      : source_(source), micro_batches_(micro_batches) {}

  void tokens(const Place& place, std::span<std::int32_t> out) const override {
    source_.tokens(mapped(place), out);
  }
  void targets(const Place& place, std::span<std::int32_t> out) const override {
    source_.targets(mapped(place), out);
  }

 private:
  [[nodiscard]] Place mapped(Place place) const {
    place.micro_batch = MicroBatchId(static_cast<std::int32_t>(place.step % micro_batches_));
    place.step /= micro_batches_;
    return place;
  }

  const MicroBatchSource& source_;
  std::int32_t micro_batches_;
};

// On one rank nothing is delayed.  The bias corrections of AdamW count updates, not lists.
TEST(AsynchronousAdamW, OfOneRankIsPlainTrainingOnSingleMicroBatches) {
  constexpr std::int32_t kLists = 2;
  const ModelGraph model = small_model(Style::kLlama, 2);
  const OptimizerSpec optimizer = without_clipping(adamw());
  const Schedule schedule = schedule_of(model, {.name = "one", .schedule = "pipedream"}, optimizer);
  Plan plan = plan_of(model, {.name = "single"}, optimizer);
  const std::int32_t micro_batches = std::exchange(plan.micro_batches, 1);
  const Schedule single = lower(model, cluster_of({.name = "single"}), plan).value();

  const TokenData data = learnable_tokens();
  const SampledBatches batches(data, schedule, kTrainingSeed);
  EXPECT_EQ(trained_weights(schedule, kLists, batches),
            trained_weights(single, kLists * micro_batches, OneByOne(batches, micro_batches)));
}

}  // namespace
}  // namespace stagewright
