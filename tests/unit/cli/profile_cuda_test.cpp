// `profile --device cuda` over the stand-ins.

#include <cstdlib>
#include <map>
#include <string>

#include <gmock/gmock.h>

#include "cli_runner.h"
#include "core/base/file.h"
#include "core/profile/profile.h"
#include "tests/support/temporary_folder.h"

namespace stagewright {
namespace {

using testing::HasSubstr;

class ProfileCuda : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto& [variable, file] : libraries_) {
      ::setenv(variable.c_str(), file.c_str(), 1);
    }
    ASSERT_TRUE(write_file(model_,
                           R"({"version": 1, "name": "tiny", "family": "gpt2", "layers": 2,
                               "hidden": 16, "heads": 2, "vocabulary": 128, "max_sequence": 8})"));
  }
  void TearDown() override {
    for (const auto& [variable, file] : libraries_) {
      ::unsetenv(variable.c_str());
    }
  }
  [[nodiscard]] CliResult profile(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {
        "profile", "--model", model_, "--device", "cuda", "--steps", "2", "--out", out_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_stagewright(arguments);
  }

  TemporaryFolder folder_;
  std::string model_ = (folder_.path() / "tiny.json").string();
  std::string out_ = (folder_.path() / "profile.json").string();
  std::map<std::string, std::string> libraries_ = {
      {"STAGEWRIGHT_CUDART_LIBRARY", STAGEWRIGHT_STANDIN_CUDART},
      {"STAGEWRIGHT_CUBLASLT_LIBRARY", STAGEWRIGHT_STANDIN_CUBLASLT},
      {"STAGEWRIGHT_CUDNN_LIBRARY", "/no/such/libcudnn.so"},
      {"STAGEWRIGHT_NVML_LIBRARY", STAGEWRIGHT_STANDIN_NVML}};
};

TEST_F(ProfileCuda, MeasuresWhatPlansOnTheDeviceNeed) {
  const CliResult result = profile({"--device-type",
                                    "h200",
                                    "--ranks",
                                    "2",
                                    "--micro-batch",
                                    "1",
                                    "--recompute",
                                    "none",
                                    "--precision",
                                    "fp32"});
  ASSERT_EQ(result.code, ExitCode::kSuccess) << result.err;
  const auto text = read_file(out_);
  ASSERT_TRUE(text.has_value());
  const auto measured = parse_profile(*text, out_);
  ASSERT_TRUE(measured) << measured.error().to_string();
  EXPECT_EQ(measured->device, "h200-141gb-sxm");
  EXPECT_THAT(measured->made_by.at("gpu"), HasSubstr("Stand-in 0, sm_90"));
  EXPECT_THAT(measured->made_by.at("clocks"), HasSubstr("MHz of 1980"));
  EXPECT_NE(measured->operation("gemm fp32 tb rows=8 cols=64 inner=16 3>1"), nullptr);
  EXPECT_TRUE(measured->link("all-reduce", 2, Bytes(1024)).has_value());

  const std::string plan = (folder_.path() / "best.plan.json").string();
  const auto ok = [](const std::vector<std::string>& arguments) {
    const CliResult done = run_stagewright(arguments);
    EXPECT_EQ(done.code, ExitCode::kSuccess) << done.err;
    return done;
  };
  ok({"plan", "--model",        model_, "--cluster", "1x2xh200", "--profile",
      out_,   "--global-batch", "2",    "--seq",     "8",        "--micro-batch",
      "1",    "--precision",    "fp32", "--pp",      "2",        "--recompute",
      "none", "--schedule",     "1f1b", "--out",     plan});
  const CliResult predicted = ok({"simulate", plan, "--profile", out_});
  EXPECT_THAT(predicted.out,
              testing::ContainsRegex("(100.0|99.[0-9]) % of the priced time is measured"));
  const CliResult ran = ok({"run", plan, "--device", "cuda", "--data", model_, "--steps", "1"});
  EXPECT_EQ(ran.err, "");
}

TEST_F(ProfileCuda, AsksForATypeThatItCannotTell) {
  const CliResult result = profile({});
  EXPECT_NE(result.code, ExitCode::kSuccess);
  EXPECT_THAT(result.err, HasSubstr("calls itself 'Stand-in 0'"));
  EXPECT_THAT(result.err, HasSubstr("--device-type"));
}

TEST_F(ProfileCuda, HasNoVirtualClock) {
  const CliResult result = profile({"--clock", "virtual", "--device-type", "h200"});
  EXPECT_NE(result.code, ExitCode::kSuccess);
  EXPECT_THAT(result.err, HasSubstr("--clock"));
}

TEST_F(ProfileCuda, DoesNotMeasureTheCpuInstead) {
  ::setenv("STAGEWRIGHT_CUDART_LIBRARY", "/no/such/library.so", 1);
  const CliResult result = profile({"--device-type", "h200"});
  EXPECT_NE(result.code, ExitCode::kSuccess);
  EXPECT_THAT(result.err, HasSubstr("the CUDA runtime is missing"));
}

}  // namespace
}  // namespace stagewright
