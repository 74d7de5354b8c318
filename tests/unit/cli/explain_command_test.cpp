#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli_runner.h"

namespace stagewright {
namespace {

std::vector<std::string> explain(std::vector<std::string> more) {
  std::vector<std::string> all{"explain", "--model", "llama3-8b", "--cluster", "1x8xh100-sxm"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(ExplainCommand, ListsMemoryByComponentAndStage) {
  const CliResult result = run_stagewright(
      explain({"--memory", "--framework", "megatron", "--tp", "2", "--pp", "2", "--zero", "1"}));
  ASSERT_EQ(result.code, ExitCode::kSuccess) << result.err;
  for (const char* text : {"8030261248 parameters",
                           "parameters",
                           "gradients",
                           "master weights",
                           "optimizer moments",
                           "activations",
                           "allocator reserve",
                           "context and communicators",
                           "nvidia-smi",
                           "byte rules of megatron"}) {
    EXPECT_NE(result.out.find(text), std::string::npos) << text << "\n" << result.out;
  }
}

TEST(ExplainCommand, JsonAddsUpAndSaysWhetherItFits) {
  const CliResult result =
      run_stagewright(explain({"--memory", "--framework", "megatron", "--json"}));
  ASSERT_EQ(result.code, ExitCode::kSuccess) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  std::int64_t sum = 0;
  for (const auto& [term, bytes] : json["fullest"]["terms_bytes"].items()) {
    sum += bytes.get<std::int64_t>();
  }
  EXPECT_EQ(json["fullest"]["driver_bytes"], sum);
  EXPECT_EQ(json["parameters"]["total"], 8030261248);
  EXPECT_FALSE(json["fits"]);
  EXPECT_EQ(json["stages"].size(), 1U);
}

TEST(ExplainCommand, DoesNotFitNamesTheLargestPartAndAWayOut) {
  const CliResult result = run_stagewright(explain({"--memory", "--framework", "megatron"}));
  ASSERT_EQ(result.code, ExitCode::kSuccess) << result.err;
  EXPECT_NE(result.out.find("does not fit: optimizer moments"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("--zero 1"), std::string::npos) << result.out;
}

TEST(ExplainCommand, RefusesDegreesThatTheModelDoesNotHave) {
  for (const char* what : {"--memory", "--costs"}) {
    const CliResult stages = run_stagewright(explain({what, "--pp", "2", "--virtual-stages", "5"}));
    EXPECT_EQ(stages.code, ExitCode::kInvalidInput);
    EXPECT_NE(stages.err.find("--virtual-stages: 5 virtual stages x pp 2 divide neither 32 layers"),
              std::string::npos)
        << stages.err;
    const CliResult experts = run_stagewright(explain({what, "--ep", "8"}));
    EXPECT_EQ(experts.code, ExitCode::kInvalidInput);
    EXPECT_NE(experts.err.find("--ep: 8, but the model has no experts"), std::string::npos)
        << experts.err;
  }
}

// Where an out-of-memory in inference comes from: 128 KiB of cache a token.
TEST(ExplainCommand, SaysHowManySequencesTheCacheLeavesRoomFor) {
  const CliResult result =
      run_stagewright(explain({"--kv-cache", "--context", "8192", "--sequences", "64", "--json"}));
  ASSERT_EQ(result.code, ExitCode::kSuccess) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["cache_bytes_per_token"], 2 * 32 * 8 * 128 * 2);
  EXPECT_EQ(json["cache_bytes"], 64LL * 8192 * 131072);
  EXPECT_FALSE(json["fits"]);
  EXPECT_GT(json["most_sequences"].get<int>(), 40);
  EXPECT_LT(json["most_sequences"].get<int>(), 64);
}

TEST(ExplainCommand, NamesWhatIsWrong) {
  EXPECT_NE(run_stagewright(explain({"--memory", "--tp", "3"})).err.find("does not divide"),
            std::string::npos);
  EXPECT_NE(run_stagewright(explain({"--memory", "--framework", "megatrn"})).err.find("megatron"),
            std::string::npos);
  EXPECT_EQ(run_stagewright(explain({})).code, ExitCode::kUsage);
  EXPECT_EQ(run_stagewright({"explain", "--memory"}).code, ExitCode::kInvalidInput);
}

}  // namespace
}  // namespace stagewright
