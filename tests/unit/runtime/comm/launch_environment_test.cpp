#include "runtime/comm/launch_environment.h"

#include <map>

#include <gtest/gtest.h>

#include "runtime/comm/mpi_launch.h"

namespace stagewright {
namespace {

using Values = std::map<std::string, std::string>;

[[nodiscard]] Values torchrun() {
  return {{"RANK", "5"},
          {"WORLD_SIZE", "8"},
          {"LOCAL_RANK", "1"},
          {"MASTER_ADDR", "node7"},
          {"MASTER_PORT", "29500"},
          {"TORCHELASTIC_RUN_ID", "job 12"}};
}

[[nodiscard]] Result<LaunchEnvironment> read(const Values& values) {
  return read_launch_environment([&values](const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  });
}

[[nodiscard]] std::string problem(const Values& values) {
  const Result<LaunchEnvironment> launch = read(values);
  return launch ? "" : launch.error().to_string();
}

TEST(LaunchEnvironment, ReadsTheVariablesOfTorchrun) {
  const Result<LaunchEnvironment> launch = read(torchrun());
  ASSERT_TRUE(launch.has_value()) << launch.error().to_string();
  EXPECT_EQ(launch->rank, 5);
  EXPECT_EQ(launch->ranks, 8);
  EXPECT_EQ(launch->local_rank, 1);
  EXPECT_EQ(launch->host, "node7");
  EXPECT_EQ(launch->port, 29500);
  EXPECT_EQ(launch->token, "job 12");
}

TEST(LaunchEnvironment, TakesTheNextPortWhereTorchrunListensItself) {
  Values values = torchrun();
  values["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  EXPECT_EQ(read(values)->port, 29501);
}

TEST(LaunchEnvironment, NeedsNoLocalRankAndNoRunId) {
  Values values = torchrun();
  values.erase("LOCAL_RANK");
  values.erase("TORCHELASTIC_RUN_ID");
  EXPECT_EQ(read(values)->local_rank, 0);
  EXPECT_EQ(read(values)->token, "");
}

TEST(LaunchEnvironment, NamesAVariableThatIsMissingOrNoNumber) {
  for (const char* const name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
    Values values = torchrun();
    values.erase(name);
    EXPECT_EQ(problem(values),
              std::string(name) + ": " + name +
                  " is not set; start the processes with torchrun, or set RANK, WORLD_SIZE, "
                  "MASTER_ADDR and MASTER_PORT for each");
  }
  Values values = torchrun();
  values["RANK"] = "8";
  EXPECT_EQ(problem(values), "RANK: '8' is no number from 0 to 7");
  values["RANK"] = "5x";
  EXPECT_EQ(problem(values), "RANK: '5x' is no number from 0 to 7");
}

TEST(MpiLaunch, CountsTheProcessesThatMpiHasStarted) {
  const auto count = [](const Values& values) {
    return processes_of_mpi([&values](const std::string& name) {
      const auto found = values.find(name);
      return found == values.end() ? std::nullopt : std::optional(found->second);
    });
  };
  EXPECT_EQ(count({}), std::nullopt);
  EXPECT_EQ(count({{"OMPI_COMM_WORLD_SIZE", "4"}}), 4);
  EXPECT_EQ(count({{"PMI_SIZE", "2"}}), 2);
  EXPECT_EQ(count({{"PMI_SIZE", "1"}}), std::nullopt);
  EXPECT_EQ(count({{"PMI_SIZE", "two"}}), std::nullopt);
}

}  // namespace
}  // namespace stagewright
