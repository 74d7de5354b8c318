// What a profiler hears of a run through NVTX, by a stand-in for one.

#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/integration/training/layouts.h"

namespace stagewright {
namespace {

/// NVTX looks for a profiler once, at the first range of the process.
const bool kLooksOn = ::setenv("NVTX_INJECTION64_PATH", STAGEWRIGHT_STANDIN_NVTX, 1) == 0;

/// By the name of the thread: the ranges that it began, each of which it must have ended before the
/// next.
std::map<std::string, std::vector<std::string>> told() {
  void* const library = ::dlopen(STAGEWRIGHT_STANDIN_NVTX, RTLD_NOW);
  EXPECT_NE(library, nullptr);
  const auto tell = reinterpret_cast<const char* (*)()>(::dlsym(library, "standin_nvtx_told"));
  std::istringstream lines(tell());
  std::map<std::string, std::vector<std::string>> ranges;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t name_end = line.find(']');
    std::vector<std::string>& of_thread = ranges[line.substr(1, name_end - 1)];
    std::istringstream words(line.substr(name_end + 1));
    bool open = false;
    for (std::string word; words >> word;) {
      EXPECT_EQ(word.front(), open ? '-' : '+') << line;
      open = word.front() == '+';
      if (open) {
        of_thread.push_back(word.substr(1));
      }
    }
    EXPECT_FALSE(open) << line;
  }
  return ranges;
}

TEST(ActionRangesTest, AProfilerHearsTheActionsOfEveryRankByTheirNames) {
  ASSERT_TRUE(kLooksOn);
  const Schedule schedule =
      schedule_of(small_model(Style::kGpt, 2), {.name = "dp2_pp2", .dp = 2, .pp = 2}, sgd());
  told();  // of tests before
  constexpr std::int32_t kSteps = 2;
  const auto report = train(schedule, kSteps);
  ASSERT_TRUE(report) << report.error().to_string();
  const auto ranges = told();
  ASSERT_EQ(ranges.size(), schedule.ranks.size());
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    std::vector<std::string> expected;
    for (std::int32_t step = 0; step < kSteps; ++step) {
      for (const Action& action : schedule.programs[schedule.ranks[rank].program.index()].actions) {
        if (is_compute(action.kind) || action.kind == ActionKind::kOptimizerStep) {
          expected.push_back(to_string(action));
        }
      }
    }
    std::vector<std::string> heard;
    for (const std::string& name : ranges.at("rank " + std::to_string(rank))) {
      const auto action = parse_action(name);
      ASSERT_TRUE(action) << name;
      if (is_compute(action->kind) || action->kind == ActionKind::kOptimizerStep) {
        heard.push_back(name);
      }
    }
    EXPECT_EQ(heard, expected) << "rank " << rank;
  }
}

}  // namespace
}  // namespace stagewright
