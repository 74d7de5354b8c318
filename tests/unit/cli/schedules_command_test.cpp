#include <map>
#include <set>
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

TEST(SchedulesCommand, EmitsJsonWhereThatIsAskedFor) {
  const std::vector<std::string> call{"schedules", "emit", "1f1b", "--ranks=1", "--chunks=1"};
  const auto with = [&call](const std::vector<std::string>& more) {
    std::vector<std::string> all = call;
    all.insert(all.end(), more.begin(), more.end());
    return run_stagewright(all);
  };
  EXPECT_EQ(with({"--json"}).out, with({"--format=json"}).out);
  EXPECT_EQ(nlohmann::json::parse(with({"--json"}).out).at("P"), 1);
  EXPECT_EQ(with({"--json", "--format=csv"}).code, ExitCode::kUsage);
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "list.json").string();
  EXPECT_EQ(nlohmann::json::parse(with({"--json", "--out", file}).out),
            (nlohmann::json{{"files", {{"schedule", file}}}}));
  EXPECT_EQ(read_file(file).value(), with({"--json"}).out);
}

TEST(SchedulesCommand, EmitsListsWithTransfersThatRunInEveryQueue) {
  const std::vector<std::string> call{"schedules", "emit", "1f1b", "--ranks=2", "--chunks=1"};
  const auto lowered = [](std::vector<std::string> all) {
    all.emplace_back("--lowered");
    return run_stagewright(all);
  };
  EXPECT_EQ(lowered(call).out, "0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n");
  const TemporaryFolder folder;
  for (const std::string name : {"zb-v", "dualpipe-v", "chimera", "hanayo"}) {
    const std::string file = (folder.path() / (name + ".json")).string();
    ASSERT_EQ(
        lowered({"schedules", "emit", name, "--ranks=4", "--chunks=8", "--json", "--out", file})
            .code,
        ExitCode::kSuccess);
    const CliResult check = run_stagewright({"schedules", "check", file, "--json"});
    const auto json = nlohmann::json::parse(check.out);
    EXPECT_EQ(json.at("runs"), true) << name;
    for (const auto& [model, makespan] : json.at("queues").items()) {
      EXPECT_TRUE(makespan.is_number()) << name << " " << model;
    }
  }
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
  EXPECT_EQ(json.at("runs"), true);
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

std::vector<std::string> compared(std::vector<std::string> names) {
  names.insert(names.begin(), {"schedules", "compare"});
  names.insert(names.end(), {"--ranks=4", "--chunks=8", "--json"});
  const CliResult result = run_stagewright(names);
  EXPECT_EQ(result.code, ExitCode::kSuccess) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  std::set<std::string> schedules;
  for (const char* rows : {"schedules", "rejected"}) {
    for (const auto& row : json.at(rows)) {
      schedules.insert(row.at("schedule"));
    }
  }
  return {schedules.begin(), schedules.end()};
}

TEST(SchedulesCommand, ComparesTheNamedOnes) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(compared({"zb-v", "1f1b"}), (Names{"1f1b", "zb-v"}));
  EXPECT_EQ(compared({"zb-1p", "zb-h1"}), (Names{"zb-h1"}));
  EXPECT_EQ(compared({"dual*"}), (Names{"dualpipe", "dualpipe-v"}));
  EXPECT_EQ(compared({"zb-*", "v-m?n"}),
            (Names{"v-min", "zb-h1", "zb-h1-quick-start", "zb-h2", "zb-v"}));
  const Names searched = compared({"1f1b", "synth"});
  EXPECT_EQ(searched.front(), "1f1b");
  EXPECT_TRUE(searched.back().starts_with("synth V=")) << searched.back();
}

TEST(SchedulesCommand, TakesNamesAsTheirAuthorsWriteThem) {
  for (const std::string name : {"1F1B", "GPipe", "ZB-V", "DualPipeV", "Interleaved1F1B"}) {
    EXPECT_EQ(run_stagewright({"schedules", "emit", name, "--ranks=2", "--chunks=4"}).code,
              ExitCode::kSuccess)
        << name;
  }
  EXPECT_EQ(compared({"DualPipe*"}), compared({"dualpipe*"}));
}

TEST(SchedulesCommand, ComparesUnlikeWorkOnlyWithANote) {
  const auto says = [](const std::vector<std::string>& more) {
    std::vector<std::string> all{"schedules", "compare", "zb-v", "1f1b", "--ranks=2", "--chunks=4"};
    all.insert(all.end(), more.begin(), more.end());
    return run_stagewright(all).out.find("schedules of unlike V do unlike work") !=
           std::string::npos;
  };
  EXPECT_TRUE(says({"--scale-stage=last=1.5"}));
  EXPECT_FALSE(says({}));
}

// What is kept until then decides whether a list recomputes, not that its cost is known.
TEST(SchedulesCommand, SearchesForRecomputationOnlyWhereItFreesMemory) {
  const auto emitted = [](const std::vector<std::string>& more) {
    std::vector<std::string> all{
        "schedules", "emit", "synth", "--ranks=4", "--chunks=8", "--memory-cap=4"};
    all.insert(all.end(), more.begin(), more.end());
    const CliResult result = run_stagewright(all);
    EXPECT_EQ(result.code, ExitCode::kSuccess) << result.err;
    return result.out;
  };
  const std::string known = emitted({"--costs=F=1,I=1,W=1,B=2,R=1"});
  EXPECT_EQ(known, emitted({"--costs=F=1,I=1,W=1,B=2"}));
  EXPECT_EQ(known.find("0R0"), std::string::npos) << known;
  const std::string kept =
      emitted({"--costs=F=1,I=1,W=1,B=2,R=1", "--parameter=held=4", "--parameter=checkpoint=1"});
  EXPECT_NE(kept.find("0R0"), std::string::npos) << kept;
}

TEST(SchedulesCommand, ComparesWithMoreEffortOnRequest) {
  const CliResult few = run_stagewright({"schedules",
                                         "compare",
                                         "synth",
                                         "--ranks=3",
                                         "--chunks=5",
                                         "--costs=F=1,I=1.3,W=0.6",
                                         "--effort=1",
                                         "--json"});
  EXPECT_EQ(few.code, ExitCode::kSuccess) << few.err;
  EXPECT_TRUE(few.err.empty()) << few.err;  // short work tells no progress
  const CliResult none =
      run_stagewright({"schedules", "compare", "1f1b", "--ranks=3", "--chunks=5", "--effort=1"});
  EXPECT_EQ(none.code, ExitCode::kInvalidInput);
  EXPECT_EQ(none.err,
            "error: --effort: nothing is searched here; leave it out, or add --synthesis\n");
}

TEST(SchedulesCommand, NamesAScheduleThatCannotBeCompared) {
  const auto error = [](const std::string& name) {
    const CliResult result =
        run_stagewright({"schedules", "compare", "1f1b", name, "--ranks=4", "--chunks=8"});
    EXPECT_EQ(result.code, ExitCode::kInvalidInput);
    return result.err;
  };
  EXPECT_EQ(error("zb-vv"), "error: there is no schedule 'zb-vv'; did you mean 'zb-v'?\n");
  EXPECT_TRUE(error("zz*").starts_with("error: there is no schedule 'zz*'; known: gpipe, "));
  const CliResult none =
      run_stagewright({"schedules", "compare", "dualpipe", "--ranks=4", "--chunks=2"});
  EXPECT_EQ(none.code, ExitCode::kInfeasible);
  EXPECT_NE(none.out.find("none of these schedules fits the sizes\nnot here: schedule 'dualpipe'"),
            std::string::npos)
      << none.out;
}

TEST(SchedulesCommand, ASendBeforeItsComputationBlocksEveryQueue) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "early.csv").string();
  ASSERT_TRUE(write_file(file, "0SEND_F0,0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n"));
  const CliResult result =
      run_stagewright({"schedules", "check", file, "--costs=F=1,I=1,W=1,B=2", "--json"});
  EXPECT_EQ(result.code, ExitCode::kCheckFailed);
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json.at("valid"), true);
  EXPECT_EQ(json.at("runs"), false);
  for (const auto& [model, verdict] : json.at("queues").items()) {
    EXPECT_EQ(verdict, "deadlock") << model;
  }
}

/// A file with that text, checked without --json.
class CheckedText {
 public:
  explicit CheckedText(const std::string& text, const std::string& name = "list.csv") {
    const std::string file = (folder_.path() / name).string();
    EXPECT_TRUE(write_file(file, text));
    result = run_stagewright({"schedules", "check", file});
  }
  [[nodiscard]] bool says(const std::string& words) const {
    return result.out.find(words) != std::string::npos;
  }

  CliResult result;

 private:
  TemporaryFolder folder_;
};

TEST(SchedulesCommand, SaysWhatItReadAndWhetherTransfersWereTried) {
  const CheckedText computed("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  EXPECT_EQ(computed.result.code, ExitCode::kSuccess);
  EXPECT_TRUE(computed.says("2 ranks, 2 stages, 2 micro-batches; F=1,")) << computed.result.out;
  EXPECT_TRUE(computed.says("communication was not examined")) << computed.result.out;
  const CheckedText sent("0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n");
  EXPECT_EQ(sent.result.code, ExitCode::kSuccess);
  EXPECT_FALSE(sent.says("not examined")) << sent.result.out;
  const CliResult json = run_stagewright(
      {"schedules", "check", vector_file("torch_zbv_P2_M3_V2_commdefer"), "--json"});
  const auto read = nlohmann::json::parse(json.out);
  EXPECT_EQ(read.at("ranks"), 2);
  EXPECT_EQ(read.at("stages"), 4);
  EXPECT_EQ(read.at("micro_batches"), 3);
}

TEST(SchedulesCommand, WarnsOfSomeQueueModelsAndFailsUnderAll) {
  const CheckedText some(
      "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
      "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n");
  EXPECT_EQ(some.result.code, ExitCode::kSuccess);
  EXPECT_TRUE(
      some.says("warning: the list does not run where its transfers queue by\n"
                "rank, pair: deadlock: rank 0 pos 3 (0SEND_F1) waits for "))
      << some.result.out;
  const CheckedText all("0SEND_F0,0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n");
  EXPECT_EQ(all.result.code, ExitCode::kCheckFailed);
  EXPECT_TRUE(
      all.says("cannot run: the list gets to its end under no queue model\nrank, pair, dir, kind, "
               "channel: deadlock: rank 0 pos 0 (0SEND_F0) waits for rank 0 pos 1 (0F0), which is "
               "reached only after rank 0 pos 0 (0SEND_F0)\n"))
      << all.result.out;
}

TEST(SchedulesCommand, FailsWhereMessagesDoNotMatch) {
  const CheckedText lone("0F0,0SEND_F0,0RECV_B0,0B0\n1F0,1B0,1SEND_B0\n");
  EXPECT_EQ(lone.result.code, ExitCode::kCheckFailed);
  EXPECT_TRUE(lone.says("not valid: missing: 1RECV_F0 on rank 1")) << lone.result.out;
}

TEST(SchedulesCommand, RefusesARecomputationBehindItsBackward) {
  const CheckedText late("0F0,0B0,0R0\n1F0,1B0\n");
  EXPECT_EQ(late.result.code, ExitCode::kCheckFailed);
  EXPECT_TRUE(late.says("not valid: order: rank 0 pos 2: 0R0 comes after the backward"))
      << late.result.out;
}

TEST(SchedulesCommand, TellsJsonThatIsNoSchedule) {
  for (const std::string text : {"{}", "{ }", "[]", "null", "[1, 2]"}) {
    const CheckedText json(text, "list.json");
    EXPECT_EQ(json.result.code, ExitCode::kInvalidInput) << text;
    EXPECT_NE(json.result.err.find("is JSON, but no schedule vector: it lacks P, M, num_stages, "
                                   "placements, mb_placement, ranks; read are schedule vectors"),
              std::string::npos)
        << json.result.err;
  }
  const CheckedText plan(R"({"P": 2, "M": 1, "ranks": [["0F0"], []]})", "plan.json");
  EXPECT_NE(plan.result.err.find("it lacks num_stages, placements, mb_placement;"),
            std::string::npos)
      << plan.result.err;
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
            "error: --group: schedule '1f1b' has no parameter 'group'; it has none\n");
  EXPECT_EQ(error({"emit", "chimera", "--ranks=4", "--chunks=6"}),
            "error: --chunks: schedule 'chimera' needs a multiple of its 4 ranks as micro-batches, "
            "but there are 6; 4 or 8 would work\n");
  EXPECT_EQ(error({"emit", "zbh1", "--ranks=4", "--chunks=6"}),
            "error: there is no schedule 'zbh1'; did you mean 'zb-h1'?\n");
  EXPECT_EQ(
      error({"emit", "hanayo", "--ranks=4", "--chunks=4", "--virtual=1"}),
      "error: --virtual: schedule 'hanayo' has two virtual stages per wave, but virtual_stages "
      "is 1; 2 would work\n");
  EXPECT_EQ(
      error({"emit", "hanayo", "--ranks=4", "--chunks=4", "--virtual=3"}),
      "error: --virtual: schedule 'hanayo' has two virtual stages per wave, but virtual_stages "
      "is 3; 2 or 4 would work\n");
}

TEST(SchedulesCommand, TellsAllBrokenRulesAtOnceWithSizesThatWork) {
  const auto error = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"schedules", "emit"});
    const CliResult result = run_stagewright(arguments);
    EXPECT_EQ(result.code, ExitCode::kInfeasible);
    return result.err;
  };
  EXPECT_EQ(error({"dualpipe", "--ranks=3", "--chunks=5", "--virtual=3"}),
            "error: --virtual, --ranks, --chunks: schedule 'dualpipe' has one stage per rank and "
            "direction, but virtual_stages is 3, and needs an even number of ranks, but there are "
            "3, and needs an even number of micro-batches, at least 2P = 6 on 3 ranks, but there "
            "are 5; 2 ranks with 4 micro-batches and virtual_stages 1 would work\n");
  EXPECT_EQ(error({"zb-h2", "--ranks=4", "--chunks=3", "--virtual=2"}),
            "error: --virtual, --chunks: schedule 'zb-h2' has 1 virtual stage per rank, but "
            "virtual_stages is 2, and needs at least 2P - 1 = 7 micro-batches on 4 ranks, but "
            "there are 3; 4 ranks with 7 micro-batches and virtual_stages 1 would work\n");
  EXPECT_EQ(error({"chimera", "--ranks=3", "--chunks=4"}),
            "error: --ranks, --chunks: schedule 'chimera' needs an even number of ranks, but there "
            "are 3, and needs a multiple of its 3 ranks as micro-batches, but there are 4; 2 ranks "
            "with 4 micro-batches and virtual_stages 1 would work\n");
  EXPECT_EQ(error({"pipedream-2bw", "--ranks=4", "--chunks=8", "--parameter=update_every=3"}),
            "error: --parameter: schedule 'pipedream-2bw' changes weights after a divisor of the 8 "
            "micro-batches that is not below the 4 ranks, but update_every is 3; these would work: "
            "4, 8\n");
}

TEST(SchedulesCommand, NamesTheOptionThatMakesATimeTooLong) {
  const auto blamed = [](const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"schedules", "check", vector_file("chimera_P2_M2")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const CliResult result = run_stagewright(arguments);
    EXPECT_EQ(result.code, ExitCode::kInvalidInput) << result.out;
    EXPECT_NE(result.err.find("use a larger unit for all times"), std::string::npos) << result.err;
    return result.err.substr(0, result.err.find(": makes"));
  };
  EXPECT_EQ(blamed({"--transfer=1e18"}), "error: --transfer");
  EXPECT_EQ(blamed({"--costs=F=1e18"}), "error: --costs");
  EXPECT_EQ(blamed({"--costs=F=1e18", "--transfer=2"}), "error: --costs");
  EXPECT_EQ(blamed({"--scale-stage=last=1e18"}), "error: --scale-stage");
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
  EXPECT_EQ(error(with(synth, {"--parameter=f.1=300"})),
            "error: --parameter: f.1=300 would be searched for, but the list timed with other "
            "costs; give them by --costs\n");
  EXPECT_EQ(error(with(synth, {"--parameter=transfer=50"})),
            "error: --parameter: transfer=50 would be searched for, but the list timed with other "
            "costs; give them by --transfer\n");
  EXPECT_EQ(error(with(synth, {"--effort=1", "--parameter=effort=2"})),
            "error: --parameter: effort=2 and --effort say the same; leave one of them out\n");
  EXPECT_EQ(error(with(synth, {"--memory-cap=3,"})),
            "error: --memory-cap: '' is no count of micro-batches of a stage; write 8, or one for "
            "each rank: 8,8,7,5\n");
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

// The usual way through and the exit codes stand once, at the top.
TEST(SchedulesCommand, HelpOfEveryCommandNamesWhatAllHave) {
  const CliResult top = run_stagewright({"--help"});
  EXPECT_NE(top.out.find("The usual way through"), std::string::npos);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"schedules", "check"},
                                                  std::vector<std::string>{"schedules", "compare"},
                                                  std::vector<std::string>{"schedules"},
                                                  std::vector<std::string>{"simulate"},
                                                  std::vector<std::string>{"run"}}) {
    std::vector<std::string> call = command;
    call.emplace_back("--help");
    const std::string help = run_stagewright(call).out;
    EXPECT_NE(help.find("--json"), std::string::npos) << command.back();
    EXPECT_EQ(help.find("The usual way through:"), std::string::npos) << command.back();
  }
}

}  // namespace
}  // namespace stagewright
