#include <gtest/gtest.h>

#include "core/schedule/lifetimes.h"
#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

class Memory : public testing::TestWithParam<Layout> {};

// What the arena really gave out, class by class, is what the lifetimes say.
TEST_P(Memory, HighWaterMarkOfEveryClassIsThePredictedOne) {
  for (const Style style : styles_of(GetParam())) {
    const Schedule schedule = schedule_of(small_model(style), GetParam(), adamw());
    const auto report = train(schedule, 2);
    ASSERT_TRUE(report) << report.error().to_string();
    for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
      const RankProgram& program = schedule.programs[schedule.ranks[rank].program.index()];
      const std::vector<Lifetime> all = lifetimes(program);
      EXPECT_EQ(report->memory[rank], memory_peaks(program, all)) << "rank " << rank;
      EXPECT_EQ(report->arenas[rank], plan_arena(all).capacity) << "rank " << rank;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Memory, testing::ValuesIn(all_layouts()), [](const auto& chosen) {
  return chosen.param.name;
});

}  // namespace
}  // namespace stagewright
