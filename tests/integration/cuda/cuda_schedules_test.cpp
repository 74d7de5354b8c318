// Every schedule that a plan can name, with 8 ranks where it has a layout of so many: the losses
// and norms of the CPU.

#include <array>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "planner/lower/lower.h"
#include "planner/schedules/registry.h"
#include "standin_library.h"
#include "tests/integration/cuda/cuda_runs.h"
#include "tests/integration/training/alike_traces.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

constexpr std::int32_t kSteps = 2;

/// The first layout of 8 ranks, else of 4, that the schedule takes.
[[nodiscard]] std::optional<Schedule> lowered(const ModelGraph& model,
                                              const ScheduleGenerator& generator) {
  static const std::array kLayouts = {Layout{.name = "dp2_tp2_pp2", .dp = 2, .tp = 2, .pp = 2},
                                      Layout{.name = "dp2_pp4", .dp = 2, .pp = 4},
                                      Layout{.name = "tp2_pp2", .tp = 2, .pp = 2}};
  for (Layout layout : kLayouts) {
    layout.schedule = std::string(generator.name);
    layout.virtual_stages = generator.default_virtual_stages;
    const Plan plan = plan_of(model, layout, without_clipping(sgd()));
    if (auto schedule = lower(model, cluster_of(layout), plan)) {
      return *std::move(schedule);
    }
  }
  return std::nullopt;
}

class CudaSchedules : public testing::TestWithParam<std::string> {};

TEST_P(CudaSchedules, TrainAsOnTheCpu) {
  const auto generator = find_schedule(GetParam());
  ASSERT_TRUE(generator);
  // Asynchronous pipelines cannot share an embedding with the head.
  const ModelGraph model = small_model(generator->asynchronous ? Style::kLlama : Style::kGpt);
  const auto schedule = lowered(model, *generator);
  ASSERT_TRUE(schedule) << "no layout for " << GetParam();
  RecordProperty("ranks", static_cast<int>(schedule->ranks.size()));
  const auto expected = train(*schedule, kSteps);
  ASSERT_TRUE(expected) << expected.error().to_string();
  const auto actual = train_on_cuda(*schedule, {.steps = kSteps});
  ASSERT_TRUE(actual) << actual.error().to_string();
  EXPECT_EQ(problems_of_standins(), "");
  expect_alike(actual->trace, expected->trace, 1e-5);
}

[[nodiscard]] std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const ScheduleGenerator& generator : schedule_generators()) {
    all.emplace_back(generator.name);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Registry,
                         CudaSchedules,
                         testing::ValuesIn(names()),
                         [](const auto& chosen) {
                           std::string name = chosen.param;
                           for (char& letter : name) {
                             letter = letter == '-' ? '_' : letter;
                           }
                           return name;
                         });

}  // namespace
}  // namespace stagewright
