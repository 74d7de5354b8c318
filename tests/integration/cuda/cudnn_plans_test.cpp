// The graphs of attention as cuDNN itself takes them: it makes plans, code and all, for devices
// that are described to it, where no device is there.  Skipped where the machine has no cuDNN.

#include <dlfcn.h>

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/compute/cudnn_attention.h"

namespace stagewright {
namespace {

/// What cuDNN wants to know of a device; clocks and sizes of memory change nothing here.
[[nodiscard]] std::string description(int generation, int multiprocessors, int shared_bytes) {
  return fmt::format(
      R"({{"cudnnVersion":"9.19.0","schemaVersion":"1.0","maxGridSize":[2147483647,65535,65535],)"
      R"("maxBlockSize":[1024,1024,64],"regsPerBlock":65536,"multiProcessorCount":{},"warpSize":32,)"
      R"("maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":{},)"
      R"("reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,"maxCtasPerSM":32,)"
      R"("maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,"pciDeviceId":0,"isTccDriver":0,)"
      R"("supportCoopLaunch":1,"totalGlobalMem":80000000000,"smClockRateKHz":1700000,)"
      R"("memClockRateKHz":2600000,"l2CacheSize":50000000,"cudaDeviceId":0,"deviceVer":{},)"
      R"("driverVer":13000,"deviceName":"described"}})",
      multiprocessors,
      shared_bytes,
      100 * generation);
}

struct Generation {
  int number;
  int multiprocessors;
  int shared_bytes;
};

class CudnnPlans : public testing::TestWithParam<Generation> {
 protected:
  void SetUp() override {
    // Before cuDNN looks for it: the driver that takes code and knows no device.
    ASSERT_NE(dlopen(STAGEWRIGHT_STANDIN_CUDA_DRIVER, RTLD_NOW | RTLD_GLOBAL), nullptr);
    auto found = load_cudnn();
    // Where the toolkit is and the linker does not look; cuDNN compiles with its compiler.
    for (const std::string folder : {"/usr/local/cuda/lib64/", "/usr/local/cuda/lib/"}) {
      (void)dlopen((folder + "libnvrtc-builtins.so").c_str(), RTLD_NOW | RTLD_GLOBAL);
      (void)dlopen((folder + "libnvrtc.so").c_str(), RTLD_NOW | RTLD_GLOBAL);
      found = found ? std::move(found) : load_cudnn(folder + cudnn_library_name().file);
    }
    if (!found) {
      GTEST_SKIP() << "no cuDNN here: " << found.error().message;
    }
    cudnn_ = *std::move(found);
    if (cudnn_->cudnnGetVersion() < 91900) {
      GTEST_SKIP() << "cuDNN " << cudnn_->version() << " knows no devices by description";
    }
  }

  std::shared_ptr<const CudnnLibrary> cudnn_;
};

TEST_P(CudnnPlans, AreMadeForBothDirections) {
  const std::string text =
      description(GetParam().number, GetParam().multiprocessors, GetParam().shared_bytes);
  CudnnDescriptor device(cudnn_, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  device.set(
      CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, std::span<const char>(text));
  device.finalize();
  // Grouped heads and whole blocks; heads of their own and rows that end no block.
  for (const CudnnAttentionCase& of : {CudnnAttentionCase{.shape = {.batch = 4,
                                                                   .sequence = 1024,
                                                                   .heads = 16,
                                                                   .kv_heads = 4,
                                                                   .head_dim = 64,
                                                                   .causal = true},
                                      .type = CUDNN_DATA_BFLOAT16},
                                       CudnnAttentionCase{.shape = {.batch = 2,
                                                                   .sequence = 100,
                                                                   .heads = 8,
                                                                   .kv_heads = 8,
                                                                   .head_dim = 128,
                                                                   .causal = false},
                                       .type = CUDNN_DATA_HALF}}) {
    ASSERT_EQ(refusal(of, cudnn_->cudnnGetVersion()), std::nullopt);
    CudnnGraph forward(cudnn_);
    CudnnGraph backward(cudnn_);
    (void)CudnnForward::build(forward, of);
    (void)CudnnBackward::build(backward, of);
    const auto forward_plan = std::move(forward).plan({.properties = &device});
    const auto backward_plan = std::move(backward).plan({.properties = &device});
    EXPECT_TRUE(forward_plan) << forward_plan.error().to_string();
    EXPECT_TRUE(backward_plan) << backward_plan.error().to_string();
  }
}

INSTANTIATE_TEST_SUITE_P(Described,
                         CudnnPlans,
                         testing::Values(Generation{8, 108, 166912},
                                         Generation{9, 132, 232448},
                                         Generation{10, 148, 232448}),
                         [](const auto& chosen) {
                           return "sm_" + std::to_string(chosen.param.number * 10);
                         });

}  // namespace
}  // namespace stagewright
