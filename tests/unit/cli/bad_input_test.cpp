#include <filesystem>
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

/// Each case: what is wrong, the call, the exit code, and what the message must hold: the place,
/// the value and the way out.
struct BadInput {
  std::string name;
  std::vector<std::string> arguments;
  ExitCode code;
  std::vector<std::string> message;
};

class BadInputs : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) {
    const auto path = folder_.path() / name;
    EXPECT_TRUE(make_folders(path.parent_path()));
    EXPECT_TRUE(write_file(path, content).has_value());
    return path.string();
  }
  /// The demo model as a Hugging Face configuration with one field changed.
  std::string config(const std::string& key, const nlohmann::json& value) {
    nlohmann::json json = {{"architectures", {"GPT2LMHeadModel"}},
                           {"model_type", "gpt2"},
                           {"n_embd", 64},
                           {"n_head", 4},
                           {"n_layer", 2},
                           {"n_positions", 64},
                           {"vocab_size", 256}};
    json[key] = value;
    return write("config_" + key + ".json", json.dump());
  }
  std::string plan(const std::string& key, const nlohmann::json& value) {
    nlohmann::json json = {{"version", 1},
                           {"model", example("models/gpt-demo.json")},
                           {"cluster", "1x8xcpu"},
                           {"sequence", 64},
                           {"micro_batch_size", 1},
                           {"micro_batches", 4},
                           {"dp", 1},
                           {"tp", 1},
                           {"pp", 1},
                           {"precision", {{"compute", "fp32"}}}};
    json[key] = value;
    return write("plan_" + key + ".plan.json", json.dump());
  }
  static std::vector<std::string> plan_for(const std::string& model,
                                           std::vector<std::string> more = {}) {
    std::vector<std::string> all{
        "plan", "--model", model, "--cluster", "1x8xcpu", "--global-batch", "8", "--seq", "64"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static void expect(const BadInput& bad) {
    SCOPED_TRACE(bad.name);
    const CliResult result = run_stagewright(bad.arguments);
    EXPECT_EQ(result.code, bad.code) << result.err;
    for (const std::string& part : bad.message) {
      EXPECT_NE(result.err.find(part), std::string::npos)
          << "'" << part << "' is not in: " << result.err;
    }
  }
  TemporaryFolder folder_;
};

TEST_F(BadInputs, OfTheModel) {
  const std::string broken = write("broken.json", "{\"n_embd\": 64,");
  expect({"truncated JSON",
          plan_for(broken),
          ExitCode::kInvalidInput,
          {"broken.json", "not valid JSON at line 1", "complete?"}});
  expect({"no such file",
          plan_for("nowhere/config.json"),
          ExitCode::kInvalidInput,
          {"nowhere/config.json"}});
  expect({"a folder without a configuration",
          plan_for(example("")),
          ExitCode::kInvalidInput,
          {"examples"}});
  expect({"not a file", plan_for("/dev/zero"), ExitCode::kInvalidInput, {"/dev/zero", "device"}});
  expect({"heads not divisible by tp",
          plan_for(example("models/gpt-demo.json"), {"--tp", "8", "--dp", "1"}),
          ExitCode::kInfeasible,
          {"4 attention heads are not divisible by tp 8"}});
  expect({"fewer layers than stages",
          plan_for(example("models/gpt-demo.json"), {"--pp", "8"}),
          ExitCode::kInfeasible,
          {"6 layers", "cannot fill 8 pipeline stages"}});
  expect({"unknown architecture",
          plan_for(config("architectures", {"MambaForCausalLM"})),
          ExitCode::kUnsupported,
          {"MambaForCausalLM", "supported"}});
  expect({"zero size",
          plan_for(config("n_layer", 0)),
          ExitCode::kInvalidInput,
          {"/n_layer", "is 0", "1 or more"}});
  expect({"negative size",
          plan_for(config("n_embd", -64)),
          ExitCode::kInvalidInput,
          {"/n_embd", "-64"}});
}

TEST_F(BadInputs, OfTheCommandLine) {
  expect({"no command", {}, ExitCode::kUsage, {}});
  expect({"unknown command", {"plann"}, ExitCode::kUsage, {"did you mean 'plan'?"}});
  expect({"unknown command below another",
          {"schedules", "lst", "--json"},
          ExitCode::kUsage,
          {"no command is called 'schedules lst'; did you mean 'list'?"}});
  expect({"zero batch",
          plan_for(example("models/gpt-demo.json"), {"--global-batch", "0"}),
          ExitCode::kUsage,
          {"--global-batch"}});
  expect({"negative sequence",
          plan_for(example("models/gpt-demo.json"), {"--seq", "-5"}),
          ExitCode::kUsage,
          {"--seq"}});
  for (const char* count : {"0", "-1", "1.5", "abc", "1000000000000"}) {
    expect({count,
            plan_for(example("models/gpt-demo.json"), {"--tp", count}),
            ExitCode::kUsage,
            {"--tp: '" + std::string(count) + "' is not a whole number from 1"}});
  }
  expect({"a share that is no number",
          plan_for(example("models/gpt-demo.json"), {"--memory-share", "nan"}),
          ExitCode::kUsage,
          {"--memory-share", "nan"}});
  expect({"a limit that is no number",
          {"compare", "a", "b", "--max-error", "nan"},
          ExitCode::kUsage,
          {"--max-error", "nan"}});
  expect({"an unknown schedule",
          plan_for(example("models/gpt-demo.json"), {"--schedule", "1f2b"}),
          ExitCode::kInvalidInput,
          {"no schedule '1f2b'", "1f1b"}});
  expect({"a cluster form that does not parse",
          {"plan", "--model", "gpt2", "--cluster", "16xx8xh100", "--global-batch", "8"},
          ExitCode::kInvalidInput,
          {"16xx8xh100"}});
  expect({"an unknown device",
          {"plan", "--model", "gpt2", "--cluster", "2x8xh1000", "--global-batch", "8"},
          ExitCode::kInvalidInput,
          {"h1000", "h100"}});
  expect({"zero nodes",
          {"plan", "--model", "gpt2", "--cluster", "0x8xh100", "--global-batch", "8"},
          ExitCode::kInvalidInput,
          {"0x8xh100"}});
}

TEST_F(BadInputs, EmptyPaths) {
  const std::string model = example("models/gpt-demo.json");
  const std::string good = plan("dp", 1);
  const std::vector<std::vector<std::string>> calls{
      plan_for(model, {"--out", ""}),
      plan_for(model, {"--profile", ""}),
      {"profile", "--model", model, "--out", ""},
      {"simulate", ""},
      {"simulate", good, "--trace", ""},
      {"simulate", good, "--svg", ""},
      {"simulate", good, "--schedule-out", ""},
      {"simulate", good, "--profile", ""},
      {"simulate", "--schedule", ""},
      {"simulate", good, "--profiles", ""},
      {"run", good, "--data", ""},
      {"run", good, "--data", good, "--trace", ""},
      {"run", good, "--data", good, "--metrics", ""},
      {"run", good, "--data", good, "--schedule", ""},
      {"compare", "", "b"},
      {"compare", "a", ""},
      {"schedules", "check", ""},
      {"schedules", "emit", "1f1b", "--ranks=2", "--chunks=2", "--out", ""}};
  for (const auto& call : calls) {
    std::string name;
    for (const std::string& word : call) {
      name += " '" + word + "'";
    }
    expect({name, call, ExitCode::kUsage, {"the name is empty", "leave the option out"}});
  }
}

TEST_F(BadInputs, NumbersThatWouldWrapOrAreNone) {
  const std::string good = plan("dp", 1);
  for (const char* seed : {"-1", "1.5", "18446744073709551616", "x"}) {
    expect({seed,
            {"run", good, "--data", good, "--seed", seed},
            ExitCode::kUsage,
            {"--seed", "'" + std::string(seed) + "' is not a whole number from 0"}});
  }
  for (const char* timeout : {"-1", "0", "nan", "inf", "1e7"}) {
    expect({timeout,
            {"run", good, "--data", good, "--timeout", timeout},
            ExitCode::kUsage,
            {"--timeout", timeout, "seconds above 0"}});
  }
  expect({"worst", {"compare", "a", "b", "--worst", "-1"}, ExitCode::kUsage, {"--worst", "'-1'"}});
  const auto bare = [](const std::string& option, const std::string& value) {
    return std::vector<std::string>{
        "simulate", "--schedule", "1f1b", "--ranks=2", "--chunks=2", option, value};
  };
  expect({"transfer", bare("--transfer", "nan"), ExitCode::kUsage, {"--transfer", "nan"}});
  expect({"overlap", bare("--overlap", "nan"), ExitCode::kUsage, {"--overlap", "nan"}});
  expect({"overlap", bare("--overlap", "11"), ExitCode::kUsage, {"--overlap", "11"}});
  expect({"costs", bare("--costs", "F=nan"), ExitCode::kInvalidInput, {"--costs", "F=nan"}});
  expect(
      {"costs", bare("--costs", "F=1e300"), ExitCode::kInvalidInput, {"--costs", "larger unit"}});
  expect(
      {"costs", bare("--transfer", "1e300"), ExitCode::kInvalidInput, {"1e+300", "larger unit"}});
}

TEST_F(BadInputs, StepsThatAreTooLongForTheClock) {
  auto device =
      nlohmann::json::parse(read_file(source_folder() / "profiles/hardware/cpu.json").value());
  for (auto& rate : device.at("peak")) {
    rate = "1 FLOP/s";
  }
  write("profiles/hardware/cpu.json", device.dump());
  const std::string profiles = (folder_.path() / "profiles").string();
  expect({"a step",
          {"simulate", plan("dp", 1), "--profiles", profiles},
          ExitCode::kUnsupported,
          {"too long for the clock", "days", "check the rates of devices and links"}});
  expect({"all plans",
          plan_for(example("models/gpt-demo.json"), {"--profiles", profiles}),
          ExitCode::kInfeasible,
          {"more than the 46 days", "check the rates of devices and links"}});
}

TEST_F(BadInputs, OfThePlan) {
  const auto simulate = [](const std::string& path) {
    return std::vector<std::string>{"simulate", path};
  };
  expect({"unknown key",
          simulate(plan("micro_batchs", 4)),
          ExitCode::kInvalidInput,
          {"micro_batchs", "did you mean 'micro_batches'?"}});
  expect({"zero micro-batches",
          simulate(plan("micro_batches", 0)),
          ExitCode::kInvalidInput,
          {"/micro_batches", "is 0"}});
  expect({"negative degree", simulate(plan("tp", -2)), ExitCode::kInvalidInput, {"/tp", "-2"}});
  expect({"heads not divisible by tp",
          simulate(plan("tp", 3)),
          ExitCode::kInfeasible,
          {"plan_tp.plan.json:/stages/0/tp: tp is 3", "4 heads", "1, 2, 4"}});
  expect(
      {"fewer layers than stages", simulate(plan("pp", 8)), ExitCode::kInvalidInput, {"/pp", "8"}});
  expect({"another model",
          simulate(plan("model_hash", "0123456789abcdef0123456789abcdef")),
          ExitCode::kInvalidInput,
          {"model", "0123456789abcdef"}});
  expect({"more devices than the cluster has",
          simulate(plan("dp", 16)),
          ExitCode::kInfeasible,
          {"16"}});
  expect({"unknown schedule",
          simulate(plan("schedule", "1f2b")),
          ExitCode::kInvalidInput,
          {"1f2b", "1f1b"}});
}

TEST_F(BadInputs, BatchThatDoesNotDivide) {
  const CliResult result = run_stagewright({"plan",
                                            "--model",
                                            example("models/gpt-demo.json"),
                                            "--cluster",
                                            "1x8xcpu",
                                            "--global-batch",
                                            "7",
                                            "--seq",
                                            "64",
                                            "--dp",
                                            "2",
                                            "--tp",
                                            "4"});
  EXPECT_EQ(result.code, ExitCode::kInfeasible);
  EXPECT_NE(result.err.find("global batch 7 is not divisible by dp 2"), std::string::npos)
      << result.err;
}

TEST_F(BadInputs, AnOutputThatCannotBeWritten) {
  const std::string file = write("file", "");
  expect({"below a file",
          plan_for(example("models/gpt-demo.json"), {"--out", file + "/best.plan.json"}),
          ExitCode::kIo,
          {file, "cannot write below the file"}});
  const std::string nowhere = (folder_.path() / "nowhere").string();
  const std::string good = plan("dp", 1);
  const std::vector<std::vector<std::string>> calls{
      plan_for(example("models/gpt-demo.json"), {"--out", nowhere + "/best.plan.json"}),
      {"simulate", good, "--svg", nowhere + "/step.svg"},
      {"simulate", good, "--trace", nowhere + "/step.json"},
      {"simulate", good, "--schedule-out", nowhere + "/step.json"},
      {"run", good, "--data", good, "--trace", nowhere + "/run.json"},
      {"run", good, "--data", good, "--metrics", nowhere + "/run.jsonl"},
      {"schedules", "emit", "1f1b", "--ranks=2", "--chunks=2", "--out", nowhere + "/list.csv"}};
  for (const auto& call : calls) {
    expect({call.back(),
            call,
            ExitCode::kIo,
            {call.back(), "there is no folder '" + nowhere + "'; make it"}});
  }
  EXPECT_FALSE(std::filesystem::exists(nowhere));
}

TEST_F(BadInputs, StepsThatAreTooLarge) {
  const std::string model = example("models/gpt-demo.json");
  expect({"more sequences than any",
          {"plan", "--model", model, "--cluster", "1x2xcpu", "--global-batch", "2147483647"},
          ExitCode::kInvalidInput,
          {"global batch 2147483647 is more than"}});
  expect({"more micro-batches than a list may have",
          {"simulate", plan("micro_batches", 1'000'000'000)},
          ExitCode::kUnsupported,
          {"/micro_batches", "1000000000 micro-batches in a step are more than the 16384"}});
  expect({"more tokens than a micro-batch may have",
          {"simulate", plan("micro_batch_size", 1'000'000'000)},
          ExitCode::kUnsupported,
          {"more than the 16777216 tokens"}});
}

TEST_F(BadInputs, TheExamplesAreNone) {
  expect({"by a preset",
          {"simulate", example("llama3-70b-128xh100.plan.json")},
          ExitCode::kSuccess,
          {}});
  expect({"by a model file",
          {"simulate",
           example("gpt-demo-uneven.plan.json"),
           "--model",
           example("models/gpt-demo.json")},
          ExitCode::kSuccess,
          {}});
}

TEST_F(BadInputs, OfARun) {
  const std::string good = plan("dp", 1);
  expect({"no data",
          {"run", good, "--data", "nowhere.txt"},
          ExitCode::kInvalidInput,
          {"nowhere.txt"}});
  expect({"text shorter than a sequence",
          {"run", good, "--data", write("short.txt", "abc")},
          ExitCode::kInvalidInput,
          {"short.txt"}});
  expect({"a group of parameters without a number",
          {"run", good, "--data", "docs", "--group", "*.bias=x"},
          ExitCode::kInvalidInput,
          {"--group", "'*.bias=x'", "NAMES=RATE"}});
  expect({"a weight decay that is no finite number",
          {"run", good, "--data", "docs", "--group", "*.bias=1,nan"},
          ExitCode::kInvalidInput,
          {"--group", "'*.bias=1,nan'"}});
  expect({"a group that no parameter belongs to",
          {"run", good, "--data", good, "--group", "nothing=2"},
          ExitCode::kInvalidInput,
          {"groups.nothing", "embedding.table"}});
  expect({"a plan for another machine",
          {"run", example("llama3-70b-128xh100.plan.json"), "--data", "docs"},
          ExitCode::kUnsupported,
          {"/cluster", "--cluster 1x"}});
  const std::string other = (folder_.path() / "two_stages.json").string();
  ASSERT_EQ(run_stagewright({"simulate", plan("pp", 2), "--schedule-out", other}).code,
            ExitCode::kSuccess);
  expect({"a schedule of another plan",
          {"run", good, "--data", good, "--steps", "1", "--schedule", other},
          ExitCode::kInvalidInput,
          {"two_stages.json", "made for another plan", "2 stages"}});
  expect({"a schedule that was changed by hand",
          {"run", good, "--data", good, "--schedule", write("foreign.json", "{}")},
          ExitCode::kInvalidInput,
          {"foreign.json"}});
}

TEST_F(BadInputs, OfACompare) {
  const std::string text = write("text.json", "{\"traceEvents\": []}");
  expect({"a foreign trace", {"compare", text, text}, ExitCode::kInvalidInput, {"text.json"}});
}

}  // namespace
}  // namespace stagewright
