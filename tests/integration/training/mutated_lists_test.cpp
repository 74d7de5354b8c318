#include <cmath>
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "core/schedule/semantics.h"
#include "sim/cost/cost_model.h"
#include "sim/engine/static_pass.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

/// What the validator says: "ok", or the kind of complaint.
enum class Verdict {
  kGood,
  kOrder,
  kMessages,
  kCollectives,
  kDeadlock
};

Verdict verdict_of(const Error& error) {
  const std::string text = error.to_string();
  const auto says = [&text](const char* words) { return text.find(words) != std::string::npos; };
  if (says("deadlock:")) {
    return Verdict::kDeadlock;
  }
  if (says("collective")) {
    return Verdict::kCollectives;
  }
  return says("is message") || says("receives it") || says("sends it") ? Verdict::kMessages
                                                                       : Verdict::kOrder;
}

/// The cycle begins and ends with the same action and names each one on the way.
void expect_named_cycle(const std::string& text) {
  const std::string waits = " waits for ";
  const auto begin = text.find("deadlock: ") + std::string("deadlock: ").size();
  const auto first_wait = text.find(waits, begin);
  ASSERT_NE(first_wait, std::string::npos) << text;
  const std::string first = text.substr(begin, first_wait - begin);
  EXPECT_EQ(first.rfind("rank ", 0), 0U) << text;
  EXPECT_TRUE(text.ends_with(waits + first) ||
              text.find("wait for each other") != std::string::npos)
      << text;
}

/// Lists of lowered plans with two actions of one rank swapped, each checked three ways.
class MutatedLists : public testing::TestWithParam<Layout> {
 protected:
  void SetUp() override {
    schedule_ = schedule_of(small_model(Style::kGpt, 6), GetParam(), sgd());
    const auto report = train(schedule_, 1);
    ASSERT_TRUE(report) << report.error().to_string();
    loss_ = report->trace.losses.front();
  }

  void swap_and_check(std::size_t program, std::size_t i, std::size_t j) {
    Schedule mutant = schedule_;
    std::vector<Action>& actions = mutant.programs[program].actions;
    std::swap(actions[i], actions[j]);
    SCOPED_TRACE("program " + std::to_string(program) + ": " + to_string(actions[j]) + " and " +
                 to_string(actions[i]) + " swapped");
    const Result<void> valid = validate(mutant);
    const auto simulated = simulate(mutant, cluster_of(GetParam()), *make_analytical_cost(), {});
    if (!valid) {
      ++verdicts_[verdict_of(valid.error())];
      if (verdict_of(valid.error()) == Verdict::kDeadlock) {
        expect_named_cycle(valid.error().to_string());
      }
      return;
    }
    // What is called valid can be simulated, and trains to the very same loss.
    EXPECT_TRUE(simulated) << simulated.error().to_string();
    if (verdicts_[Verdict::kGood]++ % kTrainedEvery == 0) {
      const auto report = train(mutant, 1);
      ASSERT_TRUE(report) << report.error().to_string();
      EXPECT_NEAR(report->trace.losses.front(), loss_, 1e-5 * loss_);
    }
  }

  static constexpr int kTrainedEvery = 5;
  Schedule schedule_;
  double loss_ = 0;
  std::map<Verdict, int> verdicts_;
};

TEST_P(MutatedLists, AreRefusedOrTrainAlike) {
  for (std::size_t p = 0; p < schedule_.programs.size(); ++p) {
    const std::size_t actions = schedule_.programs[p].actions.size();
    for (std::size_t i = 0; i + 1 < actions; ++i) {
      swap_and_check(p, i, i + 1);
    }
  }
  constexpr int kFarSwaps = 60;
  std::mt19937 random(11);
  for (int k = 0; k < kFarSwaps; ++k) {
    const std::size_t p = random() % schedule_.programs.size();
    const std::size_t actions = schedule_.programs[p].actions.size();
    swap_and_check(p, random() % actions, random() % actions);
  }
  EXPECT_GT(verdicts_[Verdict::kGood], 0);
  EXPECT_GT(verdicts_[Verdict::kOrder], 0);
  EXPECT_GT(verdicts_[Verdict::kDeadlock] + verdicts_[Verdict::kMessages] +
                verdicts_[Verdict::kCollectives],
            0);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts,
    MutatedLists,
    testing::Values(
        Layout{.name = "pp3_1f1b", .pp = 3, .micro_batch_size = 2},
        Layout{.name = "pp2_chimera", .pp = 2, .schedule = "chimera", .micro_batch_size = 2},
        Layout{
            .name = "tp2_pp2_zb_h1", .tp = 2, .pp = 2, .schedule = "zb-h1", .micro_batch_size = 2},
        Layout{.name = "dp2_pp2_dualpipe_v",
               .dp = 2,
               .pp = 2,
               .virtual_stages = 2,
               .schedule = "dualpipe-v"}),
    [](const auto& chosen) { return chosen.param.name; });

/// One rank of a tensor group gets a list of its own.
Schedule with_own_list(Schedule schedule, std::size_t rank) {
  schedule.programs.push_back(schedule.programs[schedule.ranks[rank].program.index()]);
  schedule.ranks[rank].program = ProgramId(schedule.programs.size() - 1);
  return schedule;
}

// Sizes are equal, so only the micro-batches tell that the sums would be of unlike terms.
TEST(CollectivesInStagePrograms, OfDifferentMicroBatchesDoNotMeet) {
  const Layout layout{.name = "tp2", .tp = 2};
  Schedule schedule = with_own_list(schedule_of(small_model(Style::kGpt, 2), layout, sgd()), 1);
  std::vector<Action>& actions = schedule.programs.back().actions;
  // Load, forward and backward of micro-batches 0 and 1 the other way round.
  std::rotate(actions.begin(), actions.begin() + 3, actions.begin() + 6);
  const Result<void> valid = validate(schedule);
  ASSERT_FALSE(valid);
  EXPECT_EQ(verdict_of(valid.error()), Verdict::kCollectives);
  EXPECT_NE(valid.error().to_string().find("(0F0), operation"), std::string::npos)
      << valid.error().to_string();
  EXPECT_NE(valid.error().to_string().find("(0F1), operation"), std::string::npos)
      << valid.error().to_string();
}

// The two copies of a stage reduce their buckets in one order.
TEST(CollectivesOfCopies, InOppositeOrderAreRefused) {
  const Layout layout{.name = "pp2", .pp = 2, .schedule = "chimera"};
  Schedule schedule = schedule_of(small_model(Style::kLlama, 4), layout, sgd());
  std::vector<std::size_t> reductions;
  std::vector<Action>& actions = schedule.programs[1].actions;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    if (actions[i].kind == ActionKind::kReduceGradients) {
      reductions.push_back(i);
    }
  }
  ASSERT_EQ(reductions.size(), 2U);
  std::swap(actions[reductions[0]], actions[reductions[1]]);
  // Both behind everything, so that only their order is wrong.
  std::rotate(actions.begin() + static_cast<std::ptrdiff_t>(reductions[0]),
              actions.begin() + static_cast<std::ptrdiff_t>(reductions[0]) + 1,
              actions.begin() + static_cast<std::ptrdiff_t>(reductions[1]));
  const Result<void> valid = validate(schedule);
  ASSERT_FALSE(valid);
  EXPECT_EQ(verdict_of(valid.error()), Verdict::kCollectives) << valid.error().to_string();
}

}  // namespace
}  // namespace stagewright
