#include "runtime/executor/rank_plan.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/integration/training/layouts.h"
#include "tests/integration/training/random_lists.h"

namespace stagewright {
namespace {

/// For every instruction and lane, the last instruction of that lane that is certainly done before
/// it starts; one less than the first index where there is none.
class HappensBefore {
 public:
  explicit HappensBefore(const RankPlan& plan) {
    std::vector<std::int32_t> last_of_lane(plan.lanes.size(), -1);
    for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
      const Instruction& instruction = plan.instructions[i];
      std::vector<std::int32_t> known(plan.lanes.size(), -1);
      const auto learn = [&](std::int32_t from) {
        const auto& of_other = done_before_[static_cast<std::size_t>(from)];
        for (std::size_t lane = 0; lane < known.size(); ++lane) {
          known[lane] = std::max(known[lane], of_other[lane]);
        }
        const LaneId lane = plan.instructions[static_cast<std::size_t>(from)].lane;
        known[lane.index()] = std::max(known[lane.index()], from);
      };
      if (last_of_lane[instruction.lane.index()] >= 0) {
        learn(last_of_lane[instruction.lane.index()]);
      }
      std::ranges::for_each(instruction.waits, learn);
      done_before_.push_back(std::move(known));
      last_of_lane[instruction.lane.index()] = static_cast<std::int32_t>(i);
    }
  }

  [[nodiscard]] bool ordered(const RankPlan& plan, std::size_t first, std::size_t second) const {
    const LaneId lane = plan.instructions[first].lane;
    return done_before_[second][lane.index()] >= static_cast<std::int32_t>(first);
  }

 private:
  std::vector<std::vector<std::int32_t>> done_before_;
};

[[nodiscard]] bool overlap(const std::vector<OperandPlace>& a, const std::vector<OperandPlace>& b) {
  return std::ranges::any_of(a, [&b](const OperandPlace& x) {
    return std::ranges::any_of(b, [&x](const OperandPlace& y) {
      return x.offset < y.offset + y.bytes && y.offset < x.offset + x.bytes;
    });
  });
}

[[nodiscard]] bool conflict(const Instruction& a, const Instruction& b) {
  return overlap(a.outputs, b.inputs) || overlap(a.inputs, b.outputs) ||
         overlap(a.outputs, b.outputs);
}

/// Number of pairs that touch the same bytes, one of them writing, on two lanes; each must be
/// ordered.
[[nodiscard]] int check_conflicts(const RankPlan& plan) {
  const HappensBefore order(plan);
  int pairs = 0;
  for (std::size_t second = 0; second < plan.instructions.size(); ++second) {
    for (std::size_t first = 0; first < second; ++first) {
      const Instruction& a = plan.instructions[first];
      const Instruction& b = plan.instructions[second];
      if (a.lane != b.lane && conflict(a, b)) {
        ++pairs;
        EXPECT_TRUE(order.ordered(plan, first, second))
            << describe(plan, a) << " and " << describe(plan, b);
      }
    }
  }
  return pairs;
}

// Data and reused memory alike: the whole arena is compared, byte range by byte range.
TEST(RankPlan, OrdersWhateverTouchesTheSameBytes) {
  constexpr std::uint64_t kSeed = 7;
  std::mt19937_64 random(kSeed);
  SCOPED_TRACE(kSeed);
  const Layout layout{.name = "dp2_tp2_pp2", .dp = 2, .tp = 2, .pp = 2};
  const Schedule lowered = schedule_of(small_model(Style::kGpt, 2), layout, sgd());
  int pairs = 0;
  for (const Schedule& schedule : {lowered, with_random_lists(lowered, random)}) {
    for (const RankId rank : {RankId(0), RankId(7)}) {
      const auto plan = plan_rank(schedule, rank);
      ASSERT_TRUE(plan) << plan.error().to_string();
      pairs += check_conflicts(*plan);
    }
  }
  EXPECT_GT(pairs, 1000);
}

}  // namespace
}  // namespace stagewright
