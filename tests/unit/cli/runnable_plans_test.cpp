#include "cli/runnable_plans.h"

#include <string>

#include <gtest/gtest.h>

#include "cli_runner.h"
#include "core/base/data_files.h"
#include "formats/model_file.h"

namespace stagewright {
namespace {

class RunnablePlans : public testing::Test {
 protected:
  RunnablePlans() {
    plan_.model = model_.name;
    plan_.stages = even_stages(static_cast<std::int32_t>(model_.layers.size()), 2, 1, 1);
    plan_.sequence = 64;
    plan_.micro_batch_size = 1;
    plan_.micro_batches = 4;
    plan_.schedule = "1f1b";
  }
  [[nodiscard]] std::string obstacle(const std::string& cluster = "1x2xcpu") const {
    const auto runs = check_plan_runs(model_, *find_cluster(DataFiles::embedded(), cluster), plan_);
    return runs ? "" : runs.error().to_string();
  }

  ModelGraph model_ = *find_model(DataFiles::embedded(), example("models/gpt-demo.json"));
  Plan plan_;
};

TEST_F(RunnablePlans, AreThoseThatCanBeLoweredForTheCpu) {
  EXPECT_EQ(obstacle(), "");
  EXPECT_EQ(
      obstacle("1x2xh100-sxm"),
      "ranks run on the CPU, the plan is for h100-80gb-sxm; pass --cluster 1x2xcpu to run it with "
      "ranks as threads of this machine, or --device cuda where one is");
  plan_.cp = 2;
  EXPECT_EQ(obstacle("1x4xcpu"), "");
  plan_.ep = 2;
  EXPECT_NE(obstacle("1x4xcpu").find("plan:/ep"), std::string::npos) << obstacle("1x4xcpu");
}

TEST_F(RunnablePlans, DoNotSendEightBits) {
  plan_.precision.transfer = DType::kFloat8;
  EXPECT_NE(obstacle().find("transfer is fp8"), std::string::npos) << obstacle();
}

}  // namespace
}  // namespace stagewright
