#include <map>

#include <gtest/gtest.h>

#include "runtime/profiler/profiler.h"
#include "sim/cost/cost_model.h"
#include "sim/engine/static_pass.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

[[nodiscard]] ProfileOptions quick() {
  ProfileOptions options;
  options.warm_up = 1;
  options.steps = 2;
  options.link_repeats = 3;
  options.message_sizes = {Bytes(1024), Bytes(16384)};
  return options;
}

TEST(Profile, CoversEverythingThatTheSchedulesRun) {
  const ModelGraph model = small_model(Style::kLlama, 2);
  const Layout layout{.name = "dp2_tp2_pp2", .dp = 2, .tp = 2, .pp = 2};
  const std::vector<Schedule> schedules = {schedule_of(model, layout, adamw())};
  const auto measured = profile(schedules, quick());
  ASSERT_TRUE(measured) << measured.error().to_string();
  EXPECT_EQ(measured->device, "cpu");
  EXPECT_EQ(measured->concurrent_ranks, 8);
  EXPECT_EQ(measured->made_by.count("oneDNN"), 1U);
  const auto cost = make_profiled_cost(*measured, make_analytical_cost());
  const auto predicted = simulate(schedules.front(), cluster_of(layout), *cost);
  ASSERT_TRUE(predicted) << predicted.error().to_string();
  EXPECT_GT(predicted->summary.measured_share, 0.5);
  for (const RankProgram& program : schedules.front().programs) {
    for (const Action& action : program.actions) {
      for (const Operation& op : operations_of(program, action).ops) {
        if (class_of(op.kind) != OpClass::kCollective) {
          EXPECT_NE(measured->operation(cost_key(op)), nullptr) << cost_key(op);
        }
      }
    }
  }
}

// A stage without collectives is one segment, and so is each of its layers.
TEST(Profile, MeasuresWholePhasesAndLayers) {
  const ModelGraph model = small_model(Style::kGpt, 2);
  const Layout layout{.name = "pp2", .pp = 2};
  const std::vector<Schedule> schedules = {schedule_of(model, layout, sgd())};
  const auto measured = measure_segments(schedules, quick());
  ASSERT_TRUE(measured) << measured.error().to_string();
  EXPECT_TRUE(measured->links.empty());
  for (const RankProgram& program : schedules.front().programs) {
    for (const StageProgram& stage : program.stages) {
      for (const std::vector<Operation>* phase : {&stage.forward, &stage.backward}) {
        const MeasuredSegment* segment = measured->segment(cost_key(*phase));
        ASSERT_NE(segment, nullptr);
        EXPECT_EQ(segment->operations, static_cast<std::int32_t>(phase->size()));
        // 8 micro-batches in 2 steps.
        EXPECT_EQ(segment->time.samples, 16);
        Duration sum{};
        for (const Operation& op : *phase) {
          sum += measured->operation(cost_key(op))->time.median;
        }
        EXPECT_GT(segment->time.median, sum / 4);
      }
    }
  }
  std::map<std::string, int> names;
  for (const MeasuredSegment& segment : measured->segments) {
    ++names[segment.name.substr(0, segment.name.find(','))];
  }
  for (const char* name : {"embedding forward",
                           "block forward",
                           "block backward",
                           "head forward",
                           "head backward",
                           "stage forward",
                           "stage backward"}) {
    EXPECT_EQ(names.count(name), 1U) << name;
  }
}

TEST(Profile, NeedsASchedule) {
  EXPECT_EQ(profile({}, quick()).error().code, ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace stagewright
