#include <map>

#include <gtest/gtest.h>

#include "runtime/profiler/profiler.h"
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

/// Every distinct phase of the schedule's stages.
[[nodiscard]] std::vector<std::vector<Operation>> phases_of(const Schedule& schedule) {
  std::vector<std::vector<Operation>> phases;
  for (const RankProgram& program : schedule.programs) {
    for (const StageProgram& stage : program.stages) {
      phases.push_back(stage.forward);
      phases.push_back(stage.backward);
    }
    phases.push_back(program.optimizer_step);
  }
  return phases;
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
  EXPECT_TRUE(measured->link("send", 2, Bytes(4096)));
  for (const std::int32_t members : {2, 8}) {  // the groups that the schedule has
    EXPECT_TRUE(measured->link("all-reduce", members, Bytes(4096))) << members;
  }
  for (const std::vector<Operation>& phase : phases_of(schedules.front())) {
    for (const Operation& op : phase) {
      const bool computes = class_of(op.kind) != OpClass::kCollective;
      EXPECT_EQ(measured->operation(cost_key(op)) != nullptr, computes) << cost_key(op);
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
  for (const std::vector<Operation>& phase : phases_of(schedules.front())) {
    if (phase == schedules.front().programs[0].optimizer_step ||
        phase == schedules.front().programs[1].optimizer_step) {
      continue;  // has a collective inside
    }
    const MeasuredSegment* segment = measured->segment(cost_key(phase));
    ASSERT_NE(segment, nullptr);
    EXPECT_EQ(segment->operations, static_cast<std::int32_t>(phase.size()));
    EXPECT_EQ(segment->time.samples, 16);  // 8 micro-batches in 2 steps
    EXPECT_GT(segment->time.median, Duration{});
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
