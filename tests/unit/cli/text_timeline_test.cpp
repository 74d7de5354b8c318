#include "cli/text_timeline.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli_runner.h"

namespace stagewright {
namespace {

/// What `simulate --timeline` draws, without the summary above it.
std::string timeline(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "simulate");
  const CliResult result = run_stagewright(arguments);
  EXPECT_EQ(result.code, ExitCode::kSuccess) << result.err;
  const std::size_t begin = result.out.rfind("\n\n");
  return begin == std::string::npos ? result.out : result.out.substr(begin + 2);
}

TEST(TextTimeline, DrawsEqualTimesEquallyWide) {
  EXPECT_EQ(timeline({"--schedule=1f1b", "--ranks=2", "--chunks=3", "--timeline=ascii"}),
            "time    0         5         10\n"
            "rank 0 |F0F1....B0--F2B1--..B2--|  25.0 %\n"
            "rank 1 |..F0B0--F1B1--F2B2--....|  25.0 %\n"
            "F forward, B backward, . idle; number: micro-batch; right: idle share\n");
}

TEST(TextTimeline, TellsTheStagesOfARankApart) {
  const std::string text =
      timeline({"--schedule=zb-v", "--ranks=2", "--chunks=3", "--timeline=ascii"});
  EXPECT_NE(text.find("F0"), std::string::npos) << text;
  EXPECT_NE(text.find("f0"), std::string::npos) << text;
  EXPECT_NE(text.find("lower case: the second stage of a rank"), std::string::npos) << text;
}

TEST(TextTimeline, UsesLinesAndColoursWhereThereAre) {
  const std::vector<std::string> call{"--schedule=gpipe", "--ranks=1", "--chunks=1"};
  auto unicode = call;
  unicode.emplace_back("--timeline=unicode");
  EXPECT_NE(timeline(unicode).find("rank 0 │F0B0──│   0.0 %"), std::string::npos)
      << timeline(unicode);
  auto colour = call;
  colour.emplace_back("--timeline=colour");
  EXPECT_NE(timeline(colour).find("\033[48;5;74;38;5;16mF0\033[0m"), std::string::npos)
      << timeline(colour);
}

TEST(TextTimeline, SaysWhenItIsTooNarrow) {
  const std::string text = timeline({"--schedule=1f1b",
                                     "--ranks=4",
                                     "--chunks=64",
                                     "--transfer=0.13",
                                     "--timeline=ascii",
                                     "--width=60"});
  EXPECT_NE(text.find("a larger --width, or --svg, shows more"), std::string::npos) << text;
  std::size_t begin = 0;
  while (begin < text.size() && text.compare(begin, 2, "F ") != 0) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 60U) << text.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(TextTimeline, LeavesOutRanksBeyondTheMost) {
  Timeline timeline;
  for (int rank = 0; rank < 10; ++rank) {
    timeline.rows.push_back({.rank = RankId(rank)});
  }
  const std::string text = to_text(timeline, {}, {.columns = 60, .most_rows = 4});
  for (const char* shown : {"rank 0 ", "rank 3 ", "rank 6 ", "rank 9 ", "4 of 10 ranks"}) {
    EXPECT_NE(text.find(shown), std::string::npos) << text;
  }
  EXPECT_EQ(text.find("rank 1 "), std::string::npos) << text;
}

}  // namespace
}  // namespace stagewright
