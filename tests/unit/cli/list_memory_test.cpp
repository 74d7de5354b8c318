#include "cli/list_memory.h"

#include <fcntl.h>
#include <spawn.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "cli_runner.h"
#include "core/base/check.h"
#include "core/base/units.h"
#include "planner/schedules/registry.h"

namespace stagewright {
namespace {

/// Most memory that the program has had resident, in bytes.
double peak_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), STAGEWRIGHT_PROGRAM);
  std::vector<char*> texts;
  for (std::string& argument : arguments) {
    texts.push_back(argument.data());
  }
  texts.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  SW_CHECK(posix_spawn(&child, STAGEWRIGHT_PROGRAM, &files, nullptr, texts.data(), environ) == 0,
           "a program that starts");
  posix_spawn_file_actions_destroy(&files);
  int status = 0;
  rusage used{};
  SW_CHECK(wait4(child, &status, 0, &used) == child, "a child that ends");
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << arguments.at(2);
  return static_cast<double>(used.ru_maxrss) * 1024;
}

double actions_of(const ScheduleGenerator& generator, std::int32_t chunks) {
  const PipelineOrder order = generator
                                  .generate({.ranks = 16,
                                             .virtual_stages = generator.default_virtual_stages,
                                             .micro_batches = chunks,
                                             .parameters = {}})
                                  .value();
  double actions = 0;
  for (const auto& rank : order.ranks) {
    actions += static_cast<double>(rank.size());
  }
  return actions;
}

/// What an action more takes, between two lengths of a list.
double bytes_an_action(const ScheduleGenerator& generator, const std::vector<std::string>& more) {
  constexpr std::int32_t kShort = 1024;
  constexpr std::int32_t kLong = 8192;
  const auto peak = [&](std::int32_t chunks) {
    std::vector<std::string> arguments{"simulate",
                                       "--schedule=" + std::string(generator.name),
                                       "--ranks=16",
                                       "--chunks=" + std::to_string(chunks),
                                       "--transfer=0.1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return peak_of(arguments);
  };
  return (peak(kLong) - peak(kShort)) /
         (actions_of(generator, kLong) - actions_of(generator, kShort));
}

/// Sanitizers keep memory of their own for every byte.
constexpr bool kSanitized =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    true;
#else
    false;
#endif

// What the refusal of a list counts with, so that no schedule takes more than it says.
TEST(ListMemory, NoSummaryTakesMoreThanIsCountedFor) {
  if (kSanitized) {
    GTEST_SKIP() << "memory of a sanitizer is not the program's";
  }
  for (const ScheduleGenerator& generator : schedule_generators()) {
    if (!generator.synthesised) {
      const double each = bytes_an_action(generator, {});
      RecordProperty(std::string(generator.name), std::to_string(each));
      EXPECT_LE(each, kSummaryBytes) << generator.name;
    }
  }
}

TEST(ListMemory, NoPictureTakesMoreThanIsCountedFor) {
  if (kSanitized) {
    GTEST_SKIP() << "memory of a sanitizer is not the program's";
  }
  for (const char* name : {"1f1b", "zb-h1"}) {
    const double each =
        bytes_an_action(find_schedule(name).value(), {"--trace=/dev/null", "--svg=/dev/null"});
    EXPECT_LE(each, kPictureBytes) << name;
  }
}

TEST(ListMemory, NoTextWithTransfersTakesMoreThanIsCountedFor) {
  if (kSanitized) {
    GTEST_SKIP() << "memory of a sanitizer is not the program's";
  }
  constexpr std::int32_t kShort = 1024;
  constexpr std::int32_t kLong = 4096;
  for (const char* name : {"zb-h1", "zb-v", "chimera"}) {
    const auto peak = [name](std::int32_t chunks) {
      return peak_of({"schedules",
                      "emit",
                      name,
                      "--ranks=16",
                      "--chunks=" + std::to_string(chunks),
                      "--lowered",
                      "--json",
                      "--out=/dev/null"});
    };
    const ScheduleGenerator generator = find_schedule(name).value();
    const double each = (peak(kLong) - peak(kShort)) /
                        (actions_of(generator, kLong) - actions_of(generator, kShort));
    // What would fit is counted with every backward as two.
    EXPECT_LE(each, (generator.splits_backward ? 1 : 1.5) * kLoweredTextBytes) << name;
  }
}

TEST(ListMemory, SaysWhatWouldFit) {
  const Bytes memory(std::int64_t{16} << 30);
  EXPECT_TRUE(check_list_fits(1e6, 100, memory, "--chunks"));
  EXPECT_TRUE(check_list_fits(4e8, 100, std::nullopt, "--chunks"));
  const auto large = check_list_fits(2e8, 100, memory, "--chunks");
  ASSERT_FALSE(large);
  EXPECT_EQ(
      large.error().to_string(),
      "--chunks: a list of about 2e+08 actions takes 18.63 GiB here (100 bytes an action), more "
      "than the memory of 16 GiB allows; up to about 1.5e+08 actions would fit: take fewer "
      "ranks, micro-batches or virtual stages");
  const auto countless = check_list_fits(3e12, 100, std::nullopt, "--chunks");
  ASSERT_FALSE(countless);
  EXPECT_EQ(countless.error().to_string(),
            "--chunks: a list of about 3e+12 actions is more than the 5e+08 that can be counted; "
            "take fewer ranks, micro-batches or virtual stages");
}

TEST(ListMemory, RefusesListsThatWouldNotFitBeforeItMakesOne) {
  const CliResult result =
      run_stagewright({"schedules", "compare", "--ranks=4096", "--chunks=4096", "--virtual=64"});
  EXPECT_EQ(result.code, ExitCode::kInvalidInput);
  EXPECT_NE(result.err.find("a list of about 3.22e+09 actions"), std::string::npos) << result.err;
}

TEST(ListMemory, OfThisMachineIsKnown) {
  const auto memory = usable_memory();
  ASSERT_TRUE(memory);
  EXPECT_GT(memory->count(), std::int64_t{1} << 28);
}

}  // namespace
}  // namespace stagewright
