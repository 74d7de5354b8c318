#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli_runner.h"
#include "core/base/file.h"
#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"

namespace stagewright {
namespace {

std::string vector_file(const std::string& name) {
  return (source_folder() / "tests/golden/schedules" / (name + ".json")).string();
}

TEST(SchedulesCommand, ListsEverySchedule) {
  const CliResult text = run_stagewright({"schedules", "list"});
  EXPECT_EQ(text.code, ExitCode::kSuccess);
  const CliResult json = run_stagewright({"schedules", "list", "--json"});
  for (const auto& schedule : nlohmann::json::parse(json.out)) {
    EXPECT_NE(text.out.find(schedule.at("name").get<std::string>()), std::string::npos);
    for (const char* key : {"bubble", "peak_activations", "weight_copies", "constraints"}) {
      EXPECT_FALSE(schedule.at(key).get<std::string>().empty()) << schedule;
    }
  }
}

TEST(SchedulesCommand, EmitsPyTorchsTokens) {
  const CliResult csv =
      run_stagewright({"schedules", "emit", "1f1b", "--ranks", "2", "--chunks", "2"});
  EXPECT_EQ(csv.code, ExitCode::kSuccess);
  EXPECT_EQ(csv.out, "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
}

TEST(SchedulesCommand, ChecksWhatItEmitted) {
  const TemporaryFolder folder;
  for (const std::string format : {"csv", "json"}) {
    const std::string file = (folder.path() / ("zbv." + format)).string();
    ASSERT_EQ(run_stagewright({"schedules",
                               "emit",
                               "zb-v",
                               "--ranks=4",
                               "--chunks=8",
                               "--format=" + format,
                               "--out=" + file})
                  .code,
              ExitCode::kSuccess);
    const CliResult check = run_stagewright({"schedules", "check", file, "--json"});
    EXPECT_EQ(check.code, ExitCode::kSuccess);
    const auto json = nlohmann::json::parse(check.out);
    EXPECT_EQ(json.at("valid"), true);
    EXPECT_EQ(json.at("makespan"), 51);
    EXPECT_NEAR(json.at("span_bubble_rate").get<double>(), 0, 1e-12);
    EXPECT_EQ(json.at("peak_F_to_W"), (std::vector<int>{8, 8, 8, 8}));
  }
}

TEST(SchedulesCommand, ChecksAVectorUnderCostsAndQueueModels) {
  const CliResult check = run_stagewright({"schedules",
                                           "check",
                                           vector_file("torch_zbv_P2_M3_V2_commdefer"),
                                           "--costs=F=1,I=1,W=1,B=2",
                                           "--transfer=0.1",
                                           "--scale-stage=last=1.5",
                                           "--json"});
  EXPECT_EQ(check.code, ExitCode::kSuccess);
  const auto json = nlohmann::json::parse(check.out);
  EXPECT_NEAR(json.at("makespan").get<double>(), 22.7, 1e-9);
  EXPECT_EQ(json.at("error"), nullptr);
  EXPECT_EQ(json.at("queues").at("pair"), "deadlock");
  EXPECT_EQ(json.at("queues").at("dir"), "mismatch");
  EXPECT_TRUE(json.at("queues").at("channel").is_number());
}

TEST(SchedulesCommand, ComparesAllThatFit) {
  const CliResult result =
      run_stagewright({"schedules", "compare", "--ranks=4", "--chunks=6", "--json"});
  EXPECT_EQ(result.code, ExitCode::kSuccess);
  const auto json = nlohmann::json::parse(result.out);
  std::map<std::string, double> makespans;
  for (const auto& row : json.at("schedules")) {
    makespans[row.at("schedule")] = row.at("makespan");
  }
  // (M + P - 1)(F + B), and M (F + B) + (P - 1)(F + I - W).
  EXPECT_DOUBLE_EQ(makespans.at("1f1b"), 27);
  EXPECT_DOUBLE_EQ(makespans.at("zb-h1"), 21);
  std::vector<std::string> rejected;
  for (const auto& row : json.at("rejected")) {
    rejected.push_back(row.at("schedule"));
  }
  EXPECT_EQ(rejected, (std::vector<std::string>{"zb-h2", "dualpipe-v", "dualpipe", "chimera"}));
}

TEST(SchedulesCommand, ASendBeforeItsComputationBlocksEveryQueue) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "early.csv").string();
  ASSERT_TRUE(write_file(file, "0SEND_F0,0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n"));
  const CliResult result =
      run_stagewright({"schedules", "check", file, "--costs=F=1,I=1,W=1,B=2", "--json"});
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json.at("valid"), true);
  for (const auto& [model, verdict] : json.at("queues").items()) {
    EXPECT_EQ(verdict, "deadlock") << model;
  }
}

TEST(SchedulesCommand, SaysWhyAListIsWrong) {
  const CliResult check =
      run_stagewright({"schedules", "check", vector_file("torch_1f1b_ir_BAD_P4_M8"), "--json"});
  EXPECT_EQ(check.code, ExitCode::kCheckFailed);
  const auto json = nlohmann::json::parse(check.out);
  EXPECT_EQ(json.at("valid"), false);
  EXPECT_EQ(json.at("error"), "range: rank 3 pos 14: 3F8 out of range (S=4, M=8)");
}

TEST(SchedulesCommand, NamesWrongOptions) {
  const auto error = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "schedules");
    const CliResult result = run_stagewright(arguments);
    EXPECT_NE(result.code, ExitCode::kSuccess);
    return result.err;
  };
  const std::string file = vector_file("chimera_P2_M2");
  EXPECT_EQ(error({"check", file, "--costs=F=1,Q=2"}),
            "error: --costs: 'Q=2' is no cost; write F=1,I=1,W=1,B=2,R=1 or some of them\n");
  EXPECT_EQ(error({"check", file, "--scale-stage=2=1.5"}),
            "error: --scale-stage: '2=1.5' scales no stage; write STAGE=FACTOR with a stage from 0 "
            "to 1 or 'last'\n");
  EXPECT_EQ(error({"check", file, "--costs=F=1,F=2"}),
            "error: --costs: F stands twice in 'F=1,F=2'; give each cost once\n");
  EXPECT_EQ(error({"check", file, "--costs=F=1,"}),
            "error: --costs: '' is no cost; write F=1,I=1,W=1,B=2,R=1 or some of them\n");
  EXPECT_EQ(error({"check", file, "--scale-stage=1=2", "--scale-stage=last=3"}),
            "error: --scale-stage: 'last=3' scales stage 1 again; give each stage one factor\n");
  EXPECT_EQ(error({"emit", "1f1b", "--ranks=2", "--chunks=2", "--group=2"}),
            "error: --parameter: schedule '1f1b' has no parameter 'group'; it has none\n");
  EXPECT_EQ(error({"emit", "chimera", "--ranks=4", "--chunks=6"}),
            "error: schedule 'chimera' needs a multiple of its 4 ranks as micro-batches, but there "
            "are 6; 4 or 8 would work\n");
  EXPECT_EQ(error({"emit", "zbh1", "--ranks=4", "--chunks=6"}),
            "error: there is no schedule 'zbh1'; did you mean 'zb-h1'?\n");
  EXPECT_EQ(error({"emit", "hanayo", "--ranks=4", "--chunks=4", "--virtual=1"}),
            "error: schedule 'hanayo' has two virtual stages per wave, but virtual_stages is 1; 2 "
            "would work\n");
  EXPECT_EQ(error({"emit", "hanayo", "--ranks=4", "--chunks=4", "--virtual=3"}),
            "error: schedule 'hanayo' has two virtual stages per wave, but virtual_stages is 3; 2 "
            "or 4 would work\n");
}

// Whichever of the two was meant, the other one would be ignored.
TEST(SchedulesCommand, NamesWhatIsSaidTwice) {
  const auto error = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"schedules", "emit"});
    const CliResult result = run_stagewright(arguments);
    EXPECT_EQ(result.code, ExitCode::kInvalidInput) << arguments.back();
    return result.err;
  };
  const std::vector<std::string> interleaved{"interleaved-1f1b", "--ranks=2", "--chunks=4"};
  const std::vector<std::string> synth{"synth", "--ranks=2", "--chunks=4"};
  const auto with = [](std::vector<std::string> all, const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  EXPECT_EQ(error(with(interleaved, {"--group=2", "--parameter=group=4"})),
            "error: --parameter: 'group=4' sets group again; give each parameter once, --group "
            "included\n");
  EXPECT_EQ(error(with(synth, {"--memory-cap=3", "--parameter=cap.1=2"})),
            "error: --parameter: cap.1=2 and --memory-cap say the same; leave one of them out\n");
  EXPECT_EQ(error(with(synth, {"--costs=F=1", "--parameter=f=100"})),
            "error: --parameter: f=100 and --costs say the same; leave one of them out\n");
  EXPECT_EQ(error(with(synth, {"--effort=1", "--parameter=effort=2"})),
            "error: --parameter: effort=2 and --effort say the same; leave one of them out\n");
  EXPECT_EQ(error(with(synth, {"--memory-cap=3,"})),
            "error: --memory-cap: '' is no count of micro-batches of a stage; write 8, or one for "
            "each rank: 8,8,7,5\n");
}

TEST(SchedulesCommand, RefusesListsThatWouldNotFitBeforeItMakesOne) {
  const CliResult result =
      run_stagewright({"schedules", "compare", "--ranks=4096", "--chunks=4096", "--virtual=64"});
  EXPECT_EQ(result.code, ExitCode::kInvalidInput);
  EXPECT_NE(result.err.find("a list of about 3.22e+09 actions"), std::string::npos) << result.err;
}

TEST(SchedulesCommand, NamesNumbersOutOfRange) {
  const auto error = [](const std::string& option) {
    const CliResult result =
        run_stagewright({"schedules", "check", vector_file("chimera_P2_M2"), option});
    EXPECT_EQ(result.code, ExitCode::kUsage) << option;
    return result.err;
  };
  for (const std::string share : {"5", "1.01", "-0.1", "nan", "x"}) {
    EXPECT_NE(error("--overlap=" + share).find("'" + share + "' is not a share from 0 to 1"),
              std::string::npos);
  }
  EXPECT_NE(error("--transfer=-1").find("'-1' is not a number of 0 or more"), std::string::npos);
  const CliResult empty =
      run_stagewright({"schedules", "check", vector_file("chimera_P2_M2"), "--costs", ""});
  EXPECT_NE(empty.err.find("the value is empty"), std::string::npos) << empty.err;
  const CliResult group = run_stagewright(
      {"schedules", "emit", "interleaved-1f1b", "--ranks=2", "--chunks=4", "--parameter=group=0"});
  EXPECT_EQ(group.code, ExitCode::kInfeasible);
  EXPECT_NE(group.err.find("cannot group 4 micro-batches on 2 ranks by 0"), std::string::npos)
      << group.err;
}

}  // namespace
}  // namespace stagewright
