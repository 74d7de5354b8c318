#include "tests/integration/training/random_lists.h"

#include <set>

#include <gtest/gtest.h>

#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

/// 50 lists for each of four seeds.
class RandomLists : public testing::TestWithParam<std::uint64_t> {};

// Nothing in the executor knows a schedule by name: any valid order of the actions trains alike.
TEST_P(RandomLists, TrainLikeOneRank) {
  constexpr int kLists = 50;
  constexpr std::int32_t kSteps = 3;
  std::mt19937_64 random(GetParam());
  const ModelGraph model = small_model(Style::kGpt, 2);
  const std::vector<Layout> layouts = {{.name = "pp2", .pp = 2},
                                       {.name = "pp3", .pp = 3, .recompute = Recompute::kFull},
                                       {.name = "dp2_pp2", .dp = 2, .pp = 2},
                                       {.name = "tp2_pp2", .tp = 2, .pp = 2},
                                       {.name = "pp4", .pp = 4}};
  const auto expected = train(schedule_of(model, equal_layouts().front(), sgd()), kSteps);
  ASSERT_TRUE(expected) << expected.error().to_string();
  std::set<std::string> different;
  for (int i = 0; i < kLists; ++i) {
    const Layout& layout = layouts[static_cast<std::size_t>(i) % layouts.size()];
    SCOPED_TRACE("list " + std::to_string(i) + ", " + layout.name);
    const Schedule schedule = with_random_lists(schedule_of(model, layout, sgd()), random);
    different.insert(schedule_hash(schedule));
    const auto actual = train(schedule, kSteps);
    ASSERT_TRUE(actual) << actual.error().to_string();
    for (std::size_t step = 0; step < kSteps; ++step) {
      const double loss = expected->trace.losses[step];
      const double norm = expected->trace.gradient_norms[step];
      ASSERT_NEAR(actual->trace.losses[step], loss, 1e-5 * loss);
      ASSERT_NEAR(actual->trace.gradient_norms[step], norm, 1e-5 * norm);
    }
    for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
      const RankProgram& program = schedule.programs[schedule.ranks[rank].program.index()];
      ASSERT_EQ(actual->memory[rank], memory_peaks(program, lifetimes(program)));
    }
  }
  EXPECT_EQ(different.size(), static_cast<std::size_t>(kLists));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLists, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace stagewright
