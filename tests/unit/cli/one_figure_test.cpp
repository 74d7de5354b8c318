// `plan`, `simulate` and `validate` print one step time for one plan.

#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli_runner.h"
#include "core/base/data_files.h"
#include "core/base/file.h"
#include "study/lowered_run.h"
#include "study/record_setup.h"
#include "tests/support/published_runs.h"
#include "tests/support/temporary_folder.h"

namespace stagewright {
namespace {

class OneFigure : public testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name, const std::string& content) const {
    const std::string path = (folder_.path() / name).string();
    EXPECT_TRUE(write_file(path, content));
    return path;
  }
  [[nodiscard]] static nlohmann::json run(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const CliResult result = run_stagewright(arguments);
    EXPECT_EQ(result.code, ExitCode::kSuccess) << result.err;
    return nlohmann::json::parse(result.out);
  }

  TemporaryFolder folder_;
};

// A published run (Narayanan et al. 2021, table 1) as a record and as the plan file that it is.
TEST_F(OneFigure, OfARecordAndOfItsPlan) {
  std::string runs;
  std::istringstream all(published_runs());
  for (std::string line; std::getline(all, line);) {
    if (line.find("\"dataset\":\"megatron_sc21\"") != std::string::npos) {
      runs += line + '\n';
    }
  }
  const DataFiles files = DataFiles::embedded();
  const StepConstants constants = load_step_constants(files).value();
  RecordSetups setups(files);
  const nlohmann::json report = run({"validate", file("runs.jsonl", runs)});
  int compared = 0;
  for (const RecordLine& line : parse_measured_records(runs)) {
    if (!line.record) {
      continue;
    }
    auto lowered = lowered_run(setups.setup_of(*line.record).value(), constants);
    ASSERT_TRUE(lowered) << lowered.error().to_string();
    const TransformerShape& shape = lowered->model.shape;
    lowered->plan.model = file("model.json",
                               nlohmann::json{{"version", 1},
                                              {"name", "model"},
                                              {"family", "gpt2"},
                                              {"layers", shape.layers},
                                              {"hidden", shape.hidden},
                                              {"heads", shape.heads},
                                              {"vocabulary", shape.vocabulary},
                                              {"max_sequence", shape.max_sequence}}
                                   .dump());
    lowered->plan.cluster = file("cluster.json", to_json_text(lowered->cluster));
    const std::string plan = file("run.plan.json", to_json_text(lowered->plan));
    const nlohmann::json simulated = run({"simulate", plan, "--framework", "megatron-lm"});
    for (const nlohmann::json& row : report["rows"]) {
      if (row["id"] == line.id) {
        EXPECT_EQ(row["price"], "static pass");
        EXPECT_EQ(row["predicted_s"], simulated["step_time_s"]) << line.id;
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 3);
}

TEST_F(OneFigure, OfAPlanThatWasFoundAndOfItsFile) {
  for (const char* framework : {"stagewright", "megatron-lm"}) {
    const std::string out = (folder_.path() / "best.plan.json").string();
    const nlohmann::json found = run({"plan",
                                      "--model",
                                      "llama2-7b",
                                      "--cluster",
                                      "2x8xa100-80gb-sxm",
                                      "--global-batch",
                                      "64",
                                      "--seq",
                                      "2048",
                                      "--framework",
                                      framework,
                                      "--out",
                                      out});
    const nlohmann::json simulated = run({"simulate", out, "--framework", framework});
    EXPECT_EQ(found["plans"][0]["step_time_s"], simulated["step_time_s"]) << framework;
  }
}

}  // namespace
}  // namespace stagewright
