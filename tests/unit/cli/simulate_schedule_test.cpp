#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli_runner.h"
#include "core/base/file.h"
#include "core/trace/trace.h"
#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"

namespace stagewright {
namespace {

std::string vector_file(const std::string& name) {
  return (source_folder() / "tests/golden/schedules" / (name + ".json")).string();
}

nlohmann::json simulate(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "simulate");
  arguments.emplace_back("--json");
  const CliResult result = run_stagewright(arguments);
  EXPECT_EQ(result.code, ExitCode::kSuccess) << result.err;
  return nlohmann::json::parse(result.out);
}

TEST(SimulateSchedule, TimesANamedSchedule) {
  const auto json = simulate(
      {"--schedule=zb-v", "--ranks=8", "--chunks=24", "--costs=F=1,I=1,W=1,B=2", "--transfer=0.1"});
  // 24 micro-batches of two stages of 3 each and, at rank 0, the way of the last I through all
  // stages: see the vector zb_zbv_P8_M24 for the times without transfers.
  EXPECT_EQ(json.at("ranks"), 8);
  EXPECT_EQ(json.at("stages"), 16);
  EXPECT_EQ(json.at("micro_batches"), 24);
  EXPECT_EQ(json.at("schedule"), "zb-v");
  EXPECT_EQ(json.at("peak_F_to_W"), std::vector<int>(8, 16));
}

TEST(SimulateSchedule, SaysTheSameOfAFileAsCheckDoes) {
  const std::string file = vector_file("torch_zbv_P2_M3_V2_commdefer");
  const std::vector<std::string> costs{"--costs=F=1,I=1,W=1,B=2",
                                       "--transfer=0.1",
                                       "--scale-stage=last=1.5",
                                       "--overlap=0.8",
                                       "--json"};
  std::vector<std::string> check{"schedules", "check", file};
  check.insert(check.end(), costs.begin(), costs.end());
  const auto checked = nlohmann::json::parse(run_stagewright(check).out);
  std::vector<std::string> call{"--schedule", file};
  call.insert(call.end(), costs.begin(), costs.end() - 1);
  auto simulated = simulate(call);
  EXPECT_NEAR(simulated.at("makespan").get<double>(), 22.7, 1e-9);
  for (const char* key : {"schedule", "bubble_causes", "bubble_causes_by_rank", "critical_path"}) {
    simulated.erase(key);
  }
  EXPECT_EQ(simulated, checked);
}

// The stretch alone is (M + P - 1)(F + B) = 15 * 3; in the long run its 12 micro-batches take what
// the slowest stage takes for them, and with transfers the round trip besides: 2 (P - 1) c / P
// each.
TEST(SimulateSchedule, TellsTheSteadyStateOfAsynchronousSchedules) {
  for (const std::string name : {"pipedream", "pipedream-2bw"}) {
    const auto json =
        simulate({"--schedule=" + name, "--ranks=4", "--chunks=12", "--costs=F=1,B=2"});
    EXPECT_DOUBLE_EQ(json.at("makespan").get<double>(), 45);
    EXPECT_DOUBLE_EQ(json.at("steady_state").at("makespan").get<double>(), 36);
    EXPECT_NEAR(json.at("steady_state").at("bubble_rate").get<double>(), 0, 1e-12);
    EXPECT_NEAR(json.at("steady_state").at("bubble").get<double>(), 0, 1e-12);
  }
  const auto lagged = simulate(
      {"--schedule=pipedream", "--ranks=4", "--chunks=12", "--costs=F=1,B=2", "--transfer=0.1"});
  EXPECT_NEAR(lagged.at("steady_state").at("makespan").get<double>(), 12 * (3 + 0.15), 1e-9);
  const auto uneven = simulate({"--schedule=pipedream",
                                "--ranks=4",
                                "--chunks=12",
                                "--costs=F=1,B=2",
                                "--scale-stage=2=1.5"});
  EXPECT_NEAR(uneven.at("steady_state").at("makespan").get<double>(), 12 * 4.5, 1e-9);
  EXPECT_FALSE(simulate({"--schedule=1f1b", "--ranks=4", "--chunks=12"}).contains("steady_state"));
}

// The last stage takes 4.5 instead of 3 a chunk, which the others wait for.
TEST(SimulateSchedule, SaysWhyRanksAreIdleAndWhatTheStepConsistsOf) {
  const auto json = simulate(
      {"--schedule=1f1b", "--ranks=4", "--chunks=64", "--costs=F=1,B=2", "--scale-stage=last=1.5"});
  const double makespan = json.at("makespan").get<double>();
  const auto& rank = json.at("bubble_causes_by_rank").at(0);
  EXPECT_EQ(rank.at("rank"), 0);
  EXPECT_NEAR(rank.at("imbalance").get<double>(), 63 * 1.5 / makespan, 0.02);
  EXPECT_EQ(rank.at("peer"), 0);
  // One meaning of "bubble": the mean over ranks, which the causes add up to.
  double sum = 0;
  for (const auto& [cause, share] : json.at("bubble_causes").items()) {
    sum += share.get<double>();
  }
  EXPECT_NEAR(json.at("bubble").get<double>(), sum, 1e-9);
  EXPECT_LT(json.at("bubble_rate").get<double>(), sum);
  const auto event = simulate({"--schedule=1f1b",
                               "--ranks=4",
                               "--chunks=64",
                               "--costs=F=1,B=2",
                               "--scale-stage=last=1.5",
                               "--engine=event"});
  EXPECT_NEAR(event.at("event").at("bubble").get<double>(), sum, 1e-9);
  const auto& last_stage = json.at("critical_path").at("by_stage").at(3);
  EXPECT_EQ(last_stage.at("stage"), 3);
  EXPECT_NEAR(last_stage.at("share").get<double>(), 64 * 4.5 / makespan, 1e-9);
}

TEST(SimulateSchedule, QueuesTheListsOwnTransfers) {
  const std::string file = vector_file("torch_zbv_P2_M3_V2_commdefer");
  const auto json = simulate({"--schedule", file, "--transfer=0.1", "--queues=channel"});
  EXPECT_EQ(json.at("makespan"), json.at("queues").at("channel"));
  const CliResult stuck =
      run_stagewright({"simulate", "--schedule", file, "--transfer=0.1", "--queues=pair"});
  EXPECT_EQ(stuck.code, ExitCode::kCheckFailed);
  EXPECT_NE(stuck.err.find("under --queues pair: deadlock: rank 0"), std::string::npos)
      << stuck.err;
}

// The file that `emit --lowered` writes is what is simulated.
TEST(SimulateSchedule, LowersANamedScheduleWhoseTransfersAreToQueue) {
  const std::vector<std::string> sizes{"--ranks=4", "--chunks=8"};
  for (const std::string schedule : {"1f1b", "zb-v", "chimera", "interleaved-1f1b"}) {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "lowered.csv").string();
    ASSERT_EQ(run_stagewright(
                  {"schedules", "emit", schedule, sizes[0], sizes[1], "--lowered", "--out", file})
                  .code,
              ExitCode::kSuccess);
    for (const std::string model : {"rank", "channel"}) {
      const auto named = simulate(
          {"--schedule=" + schedule, sizes[0], sizes[1], "--transfer=0.1", "--queues=" + model});
      EXPECT_EQ(named.at("makespan"), named.at("queues").at(model));
      const auto read = simulate({"--schedule=" + file, "--transfer=0.1", "--queues=" + model});
      EXPECT_EQ(named.at("makespan"), read.at("makespan"));
      EXPECT_EQ(named.at("bubble_causes"), read.at("bubble_causes"));
    }
  }
}

TEST(SimulateSchedule, WritesATraceThatReadsBack) {
  const TemporaryFolder folder;
  for (const std::string name : {"trace.json", "trace.swtrace"}) {
    const std::string path = (folder.path() / name).string();
    (void)simulate({"--schedule=1f1b", "--ranks=2", "--chunks=2", "--transfer=1", "--trace", path});
    const auto trace = parse_trace(read_file(path).value(), path);
    ASSERT_TRUE(trace) << trace.error().to_string();
    EXPECT_EQ(trace->ranks, 2);
    EXPECT_EQ(trace->events.size(), 8U + 4U);
    EXPECT_EQ(trace->plan_summary, "1f1b: 2 ranks, 2 stages, 2 micro-batches");
  }
}

TEST(SimulateSchedule, WritesAPicture) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "picture.svg").string();
  (void)simulate({"--schedule=dualpipe-v", "--ranks=2", "--chunks=4", "--svg", path});
  const std::string svg = read_file(path).value();
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find("dualpipe-v: 2 ranks, 4 stages, 4 micro-batches"), std::string::npos);
}

TEST(SimulateSchedule, SaysWhichFilesItWrote) {
  const TemporaryFolder folder;
  const std::string svg = (folder.path() / "step.svg").string();
  const std::string trace = (folder.path() / "step.json").string();
  const std::vector<std::string> arguments{
      "simulate", "--schedule=1f1b", "--ranks=2", "--chunks=2", "--svg", svg, "--trace", trace};
  const CliResult text = run_stagewright(arguments);
  EXPECT_NE(text.out.find("wrote the picture to " + svg), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("wrote the predicted timeline to " + trace), std::string::npos);
  const auto json = simulate({arguments.begin() + 1, arguments.end()});
  EXPECT_EQ(json.at("files"), (nlohmann::json{{"svg", svg}, {"trace", trace}}));
}

TEST(SimulateSchedule, RefusesToWriteOverWhatItReads) {
  const TemporaryFolder folder;
  const std::string list = (folder.path() / "list.csv").string();
  const std::string same = (folder.path() / "." / "list.csv").string();
  const CliResult made =
      run_stagewright({"schedules", "emit", "1f1b", "--ranks=2", "--chunks=2", "--out", list});
  ASSERT_EQ(made.code, ExitCode::kSuccess) << made.err;
  const std::string before = read_file(list).value();
  for (const char* option : {"--svg", "--trace"}) {
    const CliResult result = run_stagewright({"simulate", "--schedule", list, option, same});
    EXPECT_EQ(result.code, ExitCode::kUsage);
    EXPECT_EQ(result.err,
              std::string("error: ") + option + ": '" + same +
                  "' is the file of --schedule, too, and would be overwritten; write to another "
                  "file\n");
    EXPECT_EQ(read_file(list).value(), before);
  }
}

TEST(SimulateSchedule, RefusesTwoOutputsInOneFile) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "step").string();
  const std::string same = (folder.path() / "." / "step").string();
  const CliResult result = run_stagewright(
      {"simulate", "--schedule=1f1b", "--ranks=2", "--chunks=2", "--svg", path, "--trace", same});
  EXPECT_EQ(result.code, ExitCode::kUsage);
  EXPECT_EQ(result.err,
            "error: --trace: '" + same +
                "' is the file of --svg, too, and would be overwritten; write to another file\n");
  EXPECT_FALSE(std::filesystem::exists(path));
  const CliResult plan =
      run_stagewright({"simulate", "x.plan.json", "--schedule-out", path, "--event-trace", same});
  EXPECT_EQ(plan.code, ExitCode::kUsage);
  EXPECT_NE(plan.err.find("is the file of --schedule-out, too"), std::string::npos) << plan.err;
  const CliResult run =
      run_stagewright({"run", "x.plan.json", "--data", "x", "--trace", path, "--metrics", same});
  EXPECT_EQ(run.code, ExitCode::kUsage);
  EXPECT_NE(run.err.find("is the file of --trace, too"), std::string::npos) << run.err;
}

/// The message of a call that must not work.
std::string error_of(std::vector<std::string> arguments, ExitCode code) {
  arguments.insert(arguments.begin(), "simulate");
  const CliResult result = run_stagewright(arguments);
  EXPECT_EQ(result.code, code) << result.out;
  return result.err;
}

TEST(SimulateSchedule, NamesWhatIsWrong) {
  EXPECT_EQ(error_of({"--schedule=zb-vv", "--ranks=2", "--chunks=4"}, ExitCode::kInvalidInput),
            "error: there is no schedule 'zb-vv'; did you mean 'zb-v'?\n");
  EXPECT_EQ(error_of({"--schedule=zb-v", "--ranks=2"}, ExitCode::kInvalidInput),
            "error: --chunks: schedule 'zb-v' needs its sizes; add --ranks P --chunks M\n");
  EXPECT_NE(error_of({}, ExitCode::kUsage).find("A plan file, or --schedule NAME"),
            std::string::npos);
  EXPECT_NE(error_of({"x.plan.json", "--costs=F=1"}, ExitCode::kUsage).find("--schedule"),
            std::string::npos);
  EXPECT_NE(error_of({"x.plan.json", "--schedule=1f1b"}, ExitCode::kUsage).find("excludes"),
            std::string::npos);
  EXPECT_NE(
      error_of({"--schedule", vector_file("chimera_P2_M2"), "--ranks=2"}, ExitCode::kInvalidInput)
          .find("leave out --ranks"),
      std::string::npos);
  EXPECT_NE(error_of({"--schedule=nowhere.csv"}, ExitCode::kInvalidInput).find("nowhere.csv"),
            std::string::npos);
  EXPECT_EQ(
      error_of({"--schedule", vector_file("torch_1f1b_ir_BAD_P4_M8")}, ExitCode::kCheckFailed),
      "error: " + vector_file("torch_1f1b_ir_BAD_P4_M8") +
          ": the list is not valid: range: rank 3 pos 14: 3F8 out of range (S=4, M=8)\n");
  EXPECT_NE(error_of({"--schedule=1f1b", "--ranks=2", "--chunks=2", "--svg", ""}, ExitCode::kUsage)
                .find("the name is empty"),
            std::string::npos);
}

}  // namespace
}  // namespace stagewright
