// What is the same in every step, captured once: the same losses and norms, and said in the report.

#include <algorithm>
#include <string>

#include <gmock/gmock.h>

#include "standin_library.h"
#include "tests/integration/cuda/cuda_runs.h"
#include "tests/integration/training/alike_traces.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

[[nodiscard]] Schedule pipeline_with_replicas() {
  return schedule_of(
      small_model(Style::kGpt, 3), {.name = "dp2_tp2_pp2", .dp = 2, .tp = 2, .pp = 2}, sgd());
}

/// Runs with replay as wanted, without a problem.
[[nodiscard]] Result<RunReport> run_with(ReplayUse use,
                                         std::int32_t steps,
                                         StandinOptions how = {}) {
  auto report =
      train_on_cuda(pipeline_with_replicas(), {.steps = steps, .standins = how, .replay = use});
  EXPECT_EQ(problems_of_standins(), "");
  return report;
}

TEST(CudaReplay, GivesTheSameBitsAsKernelsOneByOne) {
  constexpr std::int32_t kSteps = 4;
  const auto given = run_with(ReplayUse::kNever, kSteps);
  const auto replayed = run_with(ReplayUse::kAlways, kSteps);
  ASSERT_TRUE(given && replayed);
  EXPECT_EQ(replayed->trace.losses, given->trace.losses);
  EXPECT_EQ(replayed->trace.gradient_norms, given->trace.gradient_norms);
  EXPECT_THAT(given->device_notes, Not(Contains(HasSubstr("graphs"))));
  EXPECT_THAT(replayed->device_notes, Contains(HasSubstr("graphs: ")));
  EXPECT_THAT(replayed->device_notes, Not(Contains(HasSubstr("graphs: 0 of"))));
  EXPECT_THAT(replayed->device_notes, Not(Contains(HasSubstr("not all could be captured"))));
}

TEST(CudaReplay, KeepsItsOrdersWheneverStreamsBegin) {
  const auto given = run_with(ReplayUse::kNever, 3);
  const auto replayed = run_with(ReplayUse::kAlways, 3, {.seed = 3, .longest_delay_us = 200});
  ASSERT_TRUE(given && replayed);
  EXPECT_EQ(replayed->trace.losses, given->trace.losses);
}

// Warms up, measures, captures, measures, decides: more steps than that takes.
TEST(CudaReplay, MeasuresWhatIsFaster) {
  constexpr std::int32_t kSteps = 10;
  const auto given = run_with(ReplayUse::kNever, kSteps);
  const auto measured = run_with(ReplayUse::kWhereFaster, kSteps);
  ASSERT_TRUE(given && measured);
  EXPECT_EQ(measured->trace.losses, given->trace.losses);
  EXPECT_THAT(measured->device_notes, Contains(HasSubstr("runs of operations are replayed")));
}

// There operations have events of their own, and the host looks at counts.
TEST(CudaReplay, LeavesOutWhatIsRecordedOrReadBack) {
  const Schedule schedule = schedule_of(
      small_model(Style::kExperts, 3), {.name = "ep2", .dp = 2, .ep = 2, .experts = true}, sgd());
  const auto expected = train(schedule, 3);
  const auto actual = train_on_cuda(schedule, {.steps = 3, .traced_steps = 2});
  ASSERT_TRUE(expected && actual) << (actual ? "" : actual.error().to_string());
  EXPECT_EQ(problems_of_standins(), "");
  expect_alike(actual->trace, expected->trace, 1e-5);
}

}  // namespace
}  // namespace stagewright
