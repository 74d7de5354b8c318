/// What `schedules check` and `simulate --schedule` say of lists that are not right, in text, JSON
/// and exit code.

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/progress_notes.h"
#include "cli_runner.h"
#include "core/base/file.h"
#include "tests/support/temporary_folder.h"

namespace stagewright {
namespace {

/// A list in a file.
class ListVerdicts : public testing::Test {
 protected:
  std::string file(const std::string& text, const std::string& name = "list.csv") {
    const auto path = folder_.path() / name;
    EXPECT_TRUE(write_file(path, text));
    return path.string();
  }
  static CliResult check(const std::string& path, const std::vector<std::string>& more = {}) {
    std::vector<std::string> all{"schedules", "check", path};
    all.insert(all.end(), more.begin(), more.end());
    return run_stagewright(all);
  }
  static CliResult simulate(const std::string& path, const std::vector<std::string>& more = {}) {
    std::vector<std::string> all{"simulate", "--schedule", path};
    all.insert(all.end(), more.begin(), more.end());
    return run_stagewright(all);
  }

 private:
  TemporaryFolder folder_;
};

const char* const kGood = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n";
const char* const kLacksABackward = "0F0,0F1,0B0\n1F0,1B0,1F1,1B1\n";
const char* const kStuckInEveryQueue = "0SEND_F0,0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n";

TEST_F(ListVerdicts, NameTheRankTheActionAndTheExcessOfACap) {
  const std::string list = file(kGood);
  const CliResult text = check(list, {"--memory-cap=1"});
  EXPECT_EQ(text.code, ExitCode::kCheckFailed);
  EXPECT_NE(text.out.find("above --memory-cap: rank 0 holds 2 until W, 1 more than its cap of 1, "
                          "first at pos 1 (0F1)\n"),
            std::string::npos)
      << text.out;
  for (const auto& result :
       {check(list, {"--memory-cap=1", "--json"}), simulate(list, {"--memory-cap=1", "--json"})}) {
    EXPECT_EQ(result.code, ExitCode::kCheckFailed);
    const auto json = nlohmann::json::parse(result.out);
    EXPECT_EQ(json.at("valid"), true);
    EXPECT_EQ(json.at("memory_cap"),
              nlohmann::json::parse(R"({"caps": [1, 1], "fits": false, "above":
                  [{"rank": 0, "cap": 1, "held": 2, "above": 1, "pos": 1, "action": "0F1"}]})"));
  }
  const CliResult kept = check(list, {"--memory-cap=2,1"});
  EXPECT_EQ(kept.code, ExitCode::kSuccess);
  EXPECT_NE(kept.out.find("every rank keeps --memory-cap\n"), std::string::npos) << kept.out;
  EXPECT_FALSE(nlohmann::json::parse(check(list, {"--json"}).out).contains("memory_cap"));
  EXPECT_EQ(check(list, {"--memory-cap=1,2,3"}).err,
            "error: --memory-cap: '1,2,3' are 3 caps for 2 ranks; give one, or one for each\n");
}

TEST_F(ListVerdicts, HoldNamedSchedulesAgainstACapAndLetSearchesKeepIt) {
  const auto of = [](const std::string& name, const std::string& cap) {
    return simulate(name, {"--ranks=4", "--chunks=8", "--memory-cap=" + cap});
  };
  EXPECT_EQ(of("1f1b", "4").code, ExitCode::kSuccess);
  const CliResult above = of("1f1b", "3");
  EXPECT_EQ(above.code, ExitCode::kCheckFailed);
  EXPECT_NE(
      above.out.find("rank 0 holds 4 until W, 1 more than its cap of 3, first at pos 3 (0F3)"),
      std::string::npos)
      << above.out;
  EXPECT_EQ(of("synth", "3").code, ExitCode::kSuccess);
}

TEST_F(ListVerdicts, HoldTheDevicesOfAPlanAgainstACap) {
  const std::string plan = example("llama3-70b-128xh100.plan.json");
  const CliResult above = run_stagewright({"simulate", plan, "--memory-cap=20 GiB", "--json"});
  EXPECT_EQ(above.code, ExitCode::kCheckFailed) << above.err;
  const auto json = nlohmann::json::parse(above.out).at("memory_cap");
  EXPECT_EQ(json.at("fits"), false);
  const auto& rank = json.at("above").at(0);
  EXPECT_EQ(rank.at("above_bytes").get<std::int64_t>(),
            rank.at("held_bytes").get<std::int64_t>() - (std::int64_t{20} << 30));
  EXPECT_FALSE(rank.at("action").get<std::string>().empty());
  EXPECT_EQ(run_stagewright({"simulate", plan, "--memory-cap=500 GiB"}).code, ExitCode::kSuccess);
  const CliResult bare = run_stagewright({"simulate", plan, "--memory-cap=8"});
  EXPECT_EQ(bare.code, ExitCode::kInvalidInput);
  EXPECT_NE(bare.err.find("--memory-cap: '8' is no size above 0"), std::string::npos) << bare.err;
}

TEST_F(ListVerdicts, WarnWhereACsvPutsAStageOnTwoRanks) {
  const std::string twice = file("0F0,1F1,1B1,0B0\n0F1,1F0,1B0,0B1\n");
  const std::string warning =
      "stages stand on several ranks (stage 0 on ranks 0 and 1), which is counted as 2 copies of "
      "their weights, as DualPipe and Chimera have them; if one rank is meant, look at micro-batch "
      "1";
  for (const auto& result : {check(twice), simulate(twice)}) {
    EXPECT_EQ(result.code, ExitCode::kSuccess);
    EXPECT_NE(result.out.find("warning: " + warning), std::string::npos) << result.out;
  }
  for (const auto& result : {check(twice, {"--json"}), simulate(twice, {"--json"})}) {
    EXPECT_EQ(nlohmann::json::parse(result.out).at("warnings"), nlohmann::json::array({warning}));
  }
  // A vector says where its stages lie.
  const CliResult stated =
      run_stagewright({"schedules", "emit", "dualpipe", "--ranks=2", "--chunks=4", "--json"});
  EXPECT_EQ(nlohmann::json::parse(check(file(stated.out, "dualpipe.json"), {"--json"}).out)
                .at("warnings"),
            nlohmann::json::array());
}

TEST_F(ListVerdicts, WarnOfMarkersThatAreNotKnown) {
  const std::string vector = file(R"({"P": 1, "M": 1, "num_stages": 1, "placements": [[0]],
      "mb_placement": [0], "ranks": [["0F0", "0UNSHARD", "OFFLOAD", "0B0"]]})",
                                  "list.json");
  EXPECT_EQ(
      nlohmann::json::parse(check(vector, {"--json"}).out).at("warnings"),
      nlohmann::json::array({"rank 0 pos 2: 'OFFLOAD' is not known; like a marker it takes no "
                             "time and holds up nothing"}));
}

TEST_F(ListVerdicts, AreTheSameOfCheckAndSimulate) {
  const std::string invalid = file(kLacksABackward);
  for (const auto& result : {check(invalid, {"--json"}), simulate(invalid, {"--json"})}) {
    EXPECT_EQ(result.code, ExitCode::kCheckFailed);
    const auto json = nlohmann::json::parse(result.out);
    EXPECT_EQ(json.at("valid"), false);
    EXPECT_EQ(json.at("runs"), false);
    EXPECT_EQ(json.at("makespan"), nullptr);
    EXPECT_EQ(json.at("error"), "missing: backward of stage 0 micro-batch 1 (I absent, W absent)");
  }
  const std::string stuck = file(kStuckInEveryQueue, "stuck.csv");
  for (const auto& result : {check(stuck, {"--json"}), simulate(stuck, {"--json"})}) {
    EXPECT_EQ(result.code, ExitCode::kCheckFailed);
    const auto json = nlohmann::json::parse(result.out);
    EXPECT_EQ(json.at("valid"), true);
    EXPECT_EQ(json.at("runs"), false);
  }
  const CliResult queued = simulate(stuck, {"--queues=pair", "--json"});
  EXPECT_EQ(queued.code, ExitCode::kCheckFailed);
  const auto json = nlohmann::json::parse(queued.out);
  EXPECT_EQ(json.at("exit_code"), 1);
  EXPECT_EQ(json.at("makespan"), nullptr);
  EXPECT_TRUE(json.at("error").get<std::string>().starts_with("under --queues pair: deadlock: "));
}

// Whatever goes wrong, what --json prints is JSON with the error and the exit code.
TEST_F(ListVerdicts, AreJsonWhateverGoesWrong) {
  const std::string good = file(kGood);
  const std::string broken = file("0F0,0Q0\n", "broken.csv");
  const std::vector<std::vector<std::string>> calls{
      {"schedules", "check", broken},
      {"schedules", "check", "nowhere.csv"},
      {"schedules", "check", good, "--costs=F=x"},
      {"schedules", "check", good, "--memory-cap=x"},
      {"schedules", "check"},
      {"schedules", "emit", "1f1b", "--ranks=2"},
      {"schedules", "emit", "zb-h2", "--ranks=4", "--chunks=2"},
      {"schedules", "emit", "1f1b", "--ranks=2", "--chunks=2", "--out=nowhere/x.json"},
      {"schedules", "emit", "1f1b", "--ranks=2", "--chunks=2", "--format=csv"},
      {"schedules", "emit", "synth", "--ranks=2", "--chunks=2", "--memory-cap=0"},
      {"schedules", "compare", "zz", "--ranks=2", "--chunks=2"},
      {"schedules", "synthesise", "nowhere.plan.json"},
      {"simulate", "--schedule", broken},
      {"simulate", "--schedule", "nowhere.csv"},
      {"simulate", "--schedule", good, "--ranks=2"},
      {"simulate", "--schedule", good, "--queues=pair"},
      {"simulate", "nowhere.plan.json"},
      {"simulate"},
      {"explain", "nowhere.plan.json"},
      {"compare", "nowhere.json", "nowhere.json"},
      {"plann"}};
  for (std::vector<std::string> call : calls) {
    call.emplace_back("--json");
    const CliResult result = run_stagewright(call);
    std::string line;
    for (const std::string& word : call) {
      line += word + " ";
    }
    EXPECT_NE(result.code, ExitCode::kSuccess) << line;
    EXPECT_FALSE(result.err.empty()) << line;
    const auto json = nlohmann::json::parse(result.out, nullptr, false);
    ASSERT_TRUE(json.is_object()) << line << "\n" << result.out;
    EXPECT_EQ(json.value("exit_code", -1), static_cast<int>(result.code)) << line;
    EXPECT_TRUE(json.at("error").is_string()) << line;
  }
}

TEST_F(ListVerdicts, WarnOfARankThatComputesNothing) {
  const auto warnings = [](const CliResult& result) {
    return nlohmann::json::parse(result.out).at("warnings");
  };
  EXPECT_TRUE(warnings(check(file(kGood), {"--json"})).empty());
  const auto idle = warnings(check(file("0F0,0B0\n\n1F0,1B0\n"), {"--json"}));
  ASSERT_EQ(idle.size(), 1U);
  EXPECT_EQ(idle.at(0),
            "rank 1 computes nothing and counts among the 3 ranks, as an empty line does");
}

/// Puts a text in the place of the standard input.
class StandardInput {
 public:
  explicit StandardInput(const std::string& text)
      : text_(text), before_(std::cin.rdbuf(text_.rdbuf())) {}
  ~StandardInput() { std::cin.rdbuf(before_); }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

 private:
  std::istringstream text_;
  std::streambuf* before_;
};

TEST_F(ListVerdicts, AreGivenOfTheStandardInput) {
  for (const bool checked : {true, false}) {
    const StandardInput input(kGood);
    const CliResult result = checked ? check("-") : simulate("-");
    EXPECT_EQ(result.code, ExitCode::kSuccess) << result.err;
    EXPECT_TRUE(result.out.starts_with("standard input: 2 ranks, 2 stages, 2 micro-batches"))
        << result.out;
  }
  const StandardInput input("0Q0\n");
  EXPECT_TRUE(check("-").err.starts_with("error: standard input: rank 0, column 1: '0Q0' is no"));
}

TEST_F(ListVerdicts, CountInTheSingular) {
  const CliResult one = check(file("0F0,0B0\n"));
  EXPECT_NE(one.out.find(": 1 rank, 1 stage, 1 micro-batch; "), std::string::npos) << one.out;
}

TEST(ProgressNotes, AreDrawnOnATerminalAndRareLinesElsewhere) {
  std::ostringstream err;
  Context context{.out = &err, .err = &err};
  {
    ProgressNotes silent(context, std::chrono::hours(1));
    silent.note("first");
    ProgressNotes talking(context, std::chrono::seconds(0));
    talking.note("second");
  }
  EXPECT_EQ(err.str(), "second\n");
  context.terminal.progress = true;
  err.str("");
  {
    ProgressNotes drawn(context, std::chrono::hours(1));
    drawn.note("third");
  }
  EXPECT_NE(err.str().find("third"), std::string::npos);
}

}  // namespace
}  // namespace stagewright
