#include "sim/analysis/critical_path.h"

#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "planner/schedules/registry.h"
#include "sim/analysis/order_work.h"
#include "tests/support/pipeline_orders.h"

namespace stagewright {
namespace {

Duration of(const CriticalPath& path, WorkKind kind) {
  return path.by_kind[static_cast<std::size_t>(kind)];
}

// GPipe, two ranks, two micro-batches, F 10 and B 20, transfers of 3, stage 1 twice as slow: the
// path passes 0F0, its message, all that rank 1 does, the message of 1B1 and 0B1.
TEST(CriticalPath, PassesTheSlowStage) {
  const PipelineOrder order = test::gpipe(2, 2);
  const PipelineCosts costs{.forward = {Duration(10), Duration(20)},
                            .backward = {Duration(20), Duration(40)},
                            .transfer = {Duration(3)}};
  const CriticalPath path = critical_path(work_of(order, compile(order).value(), costs));
  EXPECT_EQ(path.length, Duration(10 + 3 + 2 * 20 + 2 * 40 + 3 + 20));
  EXPECT_EQ(of(path, WorkKind::kForward), Duration(10 + 2 * 20));
  EXPECT_EQ(of(path, WorkKind::kBackward), Duration(2 * 40 + 20));
  EXPECT_EQ(of(path, WorkKind::kTransfer), Duration(6));
  EXPECT_EQ(path.by_stage,
            (std::map<StageId, Duration>{{StageId(0), Duration(30)}, {StageId(1), Duration(120)}}));
  EXPECT_EQ(path.segments.size(), 8U);
  // 0F1 ends at 20, and its message is needed at 33; 0B0 is over at 116, before 0B1 begins at 136.
  const std::vector<ActionSlack> slack = {
      {0, 0, Duration(0)}, {0, 1, Duration(10)}, {0, 2, Duration(20)}, {0, 3, Duration(0)}};
  EXPECT_EQ(std::vector(path.slack.begin(), path.slack.begin() + 4), slack);
}

// Rank 1 begins 50 late.
TEST(CriticalPath, NamesTheLateRank) {
  const PipelineOrder order = test::one_forward_one_backward(2, 1);
  const PipelineCosts costs{.forward = {Duration(10), Duration(10)},
                            .backward = {Duration(20), Duration(20)},
                            .late = {Duration(0), Duration(50)}};
  const CriticalPath path = critical_path(work_of(order, compile(order).value(), costs));
  EXPECT_EQ(path.length, Duration(100));
  EXPECT_EQ(path.late, Duration(50));
  ASSERT_FALSE(path.segments.empty());
  EXPECT_TRUE(path.segments.front().waits);
  EXPECT_EQ(path.segments.front().piece.rank, 1);
}

/// Random costs for every action.
class RandomSteps {
 public:
  explicit RandomSteps(std::uint32_t seed) : random_(seed) {}
  Duration duration(std::int64_t high) {
    return Duration(std::uniform_int_distribution<std::int64_t>(0, high)(random_));
  }
  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }
  PipelineOrder order(const ScheduleGenerator& generator) {
    return generator
        .generate({.ranks = 4,
                   .virtual_stages = generator.default_virtual_stages,
                   .micro_batches = 8,
                   .parameters = {}})
        .value();
  }
  std::vector<Duration> durations(const PipelineGraph& graph) {
    std::vector<Duration> durations(graph.graph.size());
    for (const SweepIndex index : graph.index) {
      durations[static_cast<std::size_t>(index)] = duration(1000);
    }
    return durations;
  }
  std::vector<Duration> lags(const PipelineGraph& graph) {
    std::vector<Duration> lags;
    for (const PipelineWork& work : graph.works) {
      lags.push_back(work.border || work.late ? duration(500) : Duration{});
    }
    return lags;
  }

 private:
  std::mt19937 random_;
};

TEST(CriticalPath, CoversTheStepWithoutGapsAndItsSumsAreItsLength) {
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  RandomSteps random(seed);
  for (const ScheduleGenerator& generator : schedule_generators()) {
    const PipelineOrder order = random.order(generator);
    const PipelineGraph graph = compile(order).value();
    const CriticalPath path =
        critical_path(work_of(order, graph, random.lags(graph), random.durations(graph)));
    Duration at{};
    for (const PathSegment& segment : path.segments) {
      EXPECT_EQ(segment.begin, at) << generator.name;
      at = segment.end;
    }
    EXPECT_EQ(at, path.length);
    EXPECT_EQ(std::accumulate(path.by_kind.begin(), path.by_kind.end(), path.late), path.length);
  }
}

// By its slack an action may take longer, and by no picosecond more.
TEST(CriticalPath, SlackIsWhatAnActionMayTakeLonger) {
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  RandomSteps random(seed);
  for (const ScheduleGenerator& generator : schedule_generators()) {
    const PipelineOrder order = random.order(generator);
    const PipelineGraph graph = compile(order).value();
    const std::vector<Duration> lags = random.lags(graph);
    const std::vector<Duration> durations = random.durations(graph);
    const CriticalPath path = critical_path(work_of(order, graph, lags, durations));
    std::vector<Duration> ends(graph.graph.size());
    for (int i = 0; i < 20; ++i) {
      const ActionSlack& action = path.slack[random.below(path.slack.size())];
      const auto index = graph.of_rank(
          static_cast<std::size_t>(action.rank))[static_cast<std::size_t>(action.action)];
      std::vector<Duration> longer = durations;
      Duration& length = longer[static_cast<std::size_t>(index)];
      length += action.slack;
      sweep(graph.graph, lags, longer, ends);
      EXPECT_EQ(graph.makespan(ends), path.length) << generator.name;
      length += Duration(1);
      sweep(graph.graph, lags, longer, ends);
      EXPECT_EQ(graph.makespan(ends), path.length + Duration(1)) << generator.name;
    }
  }
}

}  // namespace
}  // namespace stagewright
