#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "runtime/profiler/profiler.h"
#include "runtime/profiler/segment_samples.h"
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
  EXPECT_TRUE(std::ranges::any_of(measured->links, &MeasuredLink::in_layers));
  EXPECT_TRUE(std::ranges::is_sorted(measured->links, in_order));
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

/// The collectives in layers of a predicted step, of whose ranks the even ones get `early` to each.
[[nodiscard]] std::vector<MeasuredLink> links_of(const Layout& layout, Duration early) {
  const Schedule schedule = schedule_of(small_model(Style::kGpt, 2), layout, sgd());
  auto predicted = simulate(schedule,
                            cluster_of(layout),
                            *make_analytical_cost(),
                            {.trace = TraceDetail::kOperations, .trace_all_ranks = true});
  EXPECT_TRUE(predicted) << predicted.error().to_string();
  std::vector<TraceEvent>& events = predicted->trace.events;
  for (std::size_t i = 1; i < events.size(); ++i) {
    if (events[i].op == OpKind::kAllReduce && events[i].rank.value() % 2 == 0) {
      events[i].ready = events[i].ready - early;
      events[i - 1].end = events[i - 1].end - early;
    }
  }
  SegmentSamples samples;
  samples.add(schedule, predicted->trace, 0);
  return samples.links();
}

// The transfer alone first, then with what half of the ranks wait for the others: of activations,
// and of what the loss needs of each row.
TEST(Profile, CollectivesInLayersIncludeTheWaitForTheLast) {
  const Layout layout{.name = "tp2", .tp = 2};
  const std::vector<MeasuredLink> together = links_of(layout, Duration{});
  const std::vector<MeasuredLink> apart = links_of(layout, Duration(4000));
  ASSERT_EQ(together.size(), apart.size());
  ASSERT_FALSE(together.empty());
  for (std::size_t i = 0; i < together.size(); ++i) {
    EXPECT_EQ(together[i].operation, "all-reduce");
    EXPECT_EQ(together[i].ranks, 2);
    EXPECT_TRUE(together[i].in_layers);
    EXPECT_EQ(together[i].time.spread, Duration{});
    EXPECT_EQ(apart[i].bytes, together[i].bytes);
    // The longest 2 % of the samples are left out.
    const Duration added = apart[i].time.median - together[i].time.median;
    EXPECT_NEAR(static_cast<double>(added.count()), 2000, 200) << together[i].bytes.count();
  }
}

// Reductions of gradients are no collectives of layers.
TEST(Profile, ReductionsOfGradientsAreNotInLayers) {
  EXPECT_TRUE(links_of({.name = "dp2", .dp = 2}, Duration{}).empty());
}

TEST(Profile, NeedsASchedule) {
  EXPECT_EQ(profile({}, quick()).error().code, ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace stagewright
