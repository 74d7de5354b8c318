#include "sim/analysis/order_explanation.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/schedule/token_list.h"
#include "planner/schedules/registry.h"
#include "sim/analysis/order_check.h"
#include "sim/analysis/order_work.h"

namespace stagewright {
namespace {

/// A list of every generator under random costs of every stage, with messages and late ranks.
class EveryOrder : public testing::Test {
 protected:
  EveryOrder() : seed_(std::random_device()()), random_(seed_) {}

  template <typename F>
  void for_each(F&& expect) {
    SCOPED_TRACE(testing::Message() << "seed " << seed_);
    for (const ScheduleGenerator& generator : schedule_generators()) {
      const PipelineOrder order = generator
                                      .generate({.ranks = 4,
                                                 .virtual_stages = generator.default_virtual_stages,
                                                 .micro_batches = 16,
                                                 .parameters = {}})
                                      .value();
      const PipelineGraph graph = compile(order).value();
      for (int i = 0; i < 10; ++i) {
        SCOPED_TRACE(testing::Message() << generator.name << ", costs " << i);
        PipelineCosts costs = costs_for(order);
        if (i % 2 == 0) {
          costs.late.clear();
        }
        if (i % 3 == 0) {
          costs.overlap = 0.8;
        }
        expect(order, graph, costs);
      }
    }
  }

 private:
  std::vector<Duration> durations(std::int32_t count) {
    std::vector<Duration> all;
    for (std::int32_t i = 0; i < count; ++i) {
      all.emplace_back(std::uniform_int_distribution<std::int64_t>(0, 1'000'000'000)(random_));
    }
    return all;
  }
  PipelineCosts costs_for(const PipelineOrder& order) {
    return {.forward = durations(order.stages),
            .backward = durations(order.stages),
            .backward_input = durations(order.stages),
            .backward_weight = durations(order.stages),
            .recompute = durations(order.stages),
            .transfer = durations(order.stages),
            .late = durations(static_cast<std::int32_t>(order.ranks.size()))};
  }

  std::uint32_t seed_;
  std::mt19937 random_;
};

// The means of kinds and stages round in another order: by picoseconds, once for each action on a
// chain.
TEST_F(EveryOrder, HasTheCausesOfItsWork) {
  constexpr std::int64_t kRounding = 1000;
  for_each([](const PipelineOrder& order, const PipelineGraph& graph, const PipelineCosts& costs) {
    const BubbleCauses expected = bubble_causes(work_of(order, graph, costs));
    const BubbleCauses causes = bubble_causes(graph, costs);
    EXPECT_EQ(causes.step_time, expected.step_time);
    ASSERT_EQ(causes.ranks.size(), expected.ranks.size());
    for (std::size_t rank = 0; rank < causes.ranks.size(); ++rank) {
      EXPECT_EQ(causes.ranks[rank].rank, expected.ranks[rank].rank);
      EXPECT_EQ(causes.ranks[rank].idle, expected.ranks[rank].idle);
      for (std::size_t cause = 0; cause < kBubbleCauseCount; ++cause) {
        EXPECT_NEAR(static_cast<double>(causes.ranks[rank].by_cause[cause].count()),
                    static_cast<double>(expected.ranks[rank].by_cause[cause].count()),
                    kRounding)
            << name_of(static_cast<BubbleCause>(cause)) << " of rank " << rank;
      }
    }
  });
}

TEST_F(EveryOrder, HasTheCriticalPathOfItsWork) {
  for_each([](const PipelineOrder& order, const PipelineGraph& graph, const PipelineCosts& costs) {
    const PathSums expected = critical_path(work_of(order, graph, costs));
    EXPECT_EQ(critical_path(graph, costs), expected);
  });
}

// By the replay of the list, item by item.
TEST_F(EveryOrder, HasTheFiguresOfItsList) {
  for_each([](const PipelineOrder& order, const PipelineGraph& graph, const PipelineCosts& costs) {
    OrderCheck expected = check_order(token_list(order), costs);
    const OrderCheck check = check_order(order, graph, costs);
    ASSERT_FALSE(expected.fault);
    EXPECT_EQ(check.timing.makespan, expected.timing.makespan);
    EXPECT_EQ(check.timing.busy, expected.timing.busy);
    EXPECT_EQ(check.timing.spans, expected.timing.spans);
    EXPECT_EQ(check.peaks, expected.peaks);
  });
}

TEST(OrderExplanation, OfRanksWithoutWorkIsEmpty) {
  const PipelineOrder order{
      .stages = 1, .micro_batches = 1, .placement = {{0}}, .copy_of = {}, .ranks = {{}, {}}};
  const PipelineGraph graph = compile(order).value();
  EXPECT_EQ(bubble_causes(graph, {}).step_time, Duration{});
  EXPECT_EQ(critical_path(graph, {}), PathSums{});
  EXPECT_EQ(check_order(order, graph, {}).timing.busy, std::vector<Duration>(2));
}

}  // namespace
}  // namespace stagewright
