// What the stand-ins refuse: a test that passes over them means that none of this happened.

#include <atomic>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "runtime/compute/kernels/element_wise.h"
#include "runtime/libraries/cuda_library.h"
#include "runtime/libraries/nccl_library.h"
#include "standin_library.h"

namespace stagewright {
namespace {

using testing::HasSubstr;

class Standins : public testing::Test {
 protected:
  void SetUp() override {
    configure_standins({});
    ASSERT_EQ(cuda_->cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cuda_->cudaMalloc(&data_, kBytes), cudaSuccess);
  }
  void TearDown() override { (void)cuda_->cudaFree(data_); }

  void drain() const {
    while (cuda_->cudaStreamQuery(stream_) == cudaErrorNotReady) {
      std::this_thread::yield();
    }
  }

  static constexpr std::size_t kBytes = 64;
  std::shared_ptr<const CudaLibrary> cuda_ = load_cuda(standin_cuda_file()).value();
  std::shared_ptr<const NcclLibrary> nccl_ = load_nccl(standin_nccl_file()).value();
  cudaStream_t stream_ = nullptr;
  void* data_ = nullptr;
};

TEST_F(Standins, MoveDataInTheOrderOfTheStream) {
  std::vector<char> host(kBytes, 1);
  EXPECT_EQ(cuda_->cudaMemsetAsync(data_, 7, kBytes, stream_), cudaSuccess);
  EXPECT_EQ(cuda_->cudaMemcpyAsync(host.data(), data_, kBytes, cudaMemcpyDeviceToHost, stream_),
            cudaSuccess);
  drain();
  EXPECT_EQ(host, std::vector<char>(kBytes, 7));
  EXPECT_EQ(problems_of_standins(), "");
}

TEST_F(Standins, RefuseACopyBeyondTheEnd) {
  std::vector<char> host(kBytes + 1);
  EXPECT_EQ(cuda_->cudaMemcpyAsync(data_, host.data(), kBytes + 1, cudaMemcpyHostToDevice, stream_),
            cudaErrorInvalidValue);
  EXPECT_THAT(problems_of_standins(),
              HasSubstr("the destination of cudaMemcpyAsync uses 65 bytes at byte 0 of an "
                        "allocation of 64"));
}

TEST_F(Standins, RefuseMemoryThatWasFreed) {
  void* freed = nullptr;
  ASSERT_EQ(cuda_->cudaMalloc(&freed, kBytes), cudaSuccess);
  ASSERT_EQ(cuda_->cudaFree(freed), cudaSuccess);
  EXPECT_EQ(cuda_->cudaMemsetAsync(freed, 0, kBytes, stream_), cudaErrorInvalidValue);
  EXPECT_THAT(problems_of_standins(), HasSubstr("cudaMemsetAsync uses memory after it was freed"));
  EXPECT_EQ(cuda_->cudaFree(freed), cudaErrorInvalidValue);
  EXPECT_THAT(problems_of_standins(), HasSubstr("cudaFree frees memory twice"));
}

TEST_F(Standins, FindStreamsThatTouchTheSameBytesWithoutAnEventBetween) {
  cudaStream_t other = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cuda_->cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cuda_->cudaEventCreateWithFlags(&event, cudaEventDefault), cudaSuccess);
  auto* const half = static_cast<char*>(data_) + kBytes / 2;
  EXPECT_EQ(cuda_->cudaMemsetAsync(data_, 1, kBytes / 2, stream_), cudaSuccess);
  EXPECT_EQ(cuda_->cudaMemsetAsync(half, 2, kBytes / 2, other), cudaSuccess);
  EXPECT_EQ(problems_of_standins(), "") << "they touch different bytes";
  EXPECT_EQ(cuda_->cudaEventRecord(event, stream_), cudaSuccess);
  EXPECT_EQ(cuda_->cudaStreamWaitEvent(other, event, 0), cudaSuccess);
  EXPECT_EQ(cuda_->cudaMemcpyAsync(half, data_, kBytes / 2, cudaMemcpyDeviceToDevice, other),
            cudaSuccess);
  EXPECT_EQ(problems_of_standins(), "") << "the event orders them";
  // Whether or not it happens to be over by now.
  EXPECT_EQ(cuda_->cudaMemsetAsync(half, 3, 1, stream_), cudaSuccess);
  EXPECT_THAT(problems_of_standins(), HasSubstr("with no event between them"));
  drain();
  EXPECT_EQ(cuda_->cudaStreamSynchronize(other), cudaSuccess);
}

TEST_F(Standins, TakeWhatTheHostHasSeenAsOver) {
  cudaStream_t other = nullptr;
  ASSERT_EQ(cuda_->cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  EXPECT_EQ(cuda_->cudaMemsetAsync(data_, 1, kBytes, stream_), cudaSuccess);
  EXPECT_EQ(cuda_->cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(cuda_->cudaMemsetAsync(data_, 2, kBytes, other), cudaSuccess);
  EXPECT_EQ(cuda_->cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(problems_of_standins(), "");
}

TEST_F(Standins, RefuseAKernelThatThereIsNotAndAGridThatDoesNotFit) {
  cudaLibrary_t code = nullptr;
  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(cuda_->cudaLibraryLoadData(&code, "any", nullptr, nullptr, 0, nullptr, nullptr, 0),
            cudaSuccess);
  EXPECT_EQ(cuda_->cudaLibraryGetKernel(&kernel, code, "no_such_kernel"), cudaErrorSymbolNotFound);
  ASSERT_EQ(cuda_->cudaLibraryGetKernel(&kernel, code, "fill"), cudaSuccess);
  std::int64_t count = kBytes / sizeof(float);
  std::int64_t columns = 1;
  kernels::Fill<float> fill{static_cast<float*>(data_), 1.5F};
  void* arguments[] = {&count, &columns, &fill};
  const auto launch = [&](unsigned blocks) {
    return cuda_->cudaLaunchKernel(
        static_cast<const void*>(kernel), dim3(blocks), dim3(256), arguments, 0, stream_);
  };
  EXPECT_EQ(launch(2), cudaErrorInvalidValue);
  EXPECT_THAT(problems_of_standins(), HasSubstr("the launch of 'fill' has 2 blocks"));
  EXPECT_EQ(launch(1), cudaSuccess);
  EXPECT_EQ(cuda_->cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(static_cast<float*>(data_)[kBytes / sizeof(float) - 1], 1.5F);
  EXPECT_EQ(cuda_->cudaLibraryUnload(code), cudaSuccess);
}

TEST_F(Standins, RefuseToWaitForAnEventThatWasNeverRecorded) {
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cuda_->cudaEventCreateWithFlags(&event, cudaEventDefault), cudaSuccess);
  EXPECT_EQ(cuda_->cudaStreamWaitEvent(stream_, event, 0), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cuda_->cudaEventQuery(event), cudaErrorInvalidResourceHandle);
  EXPECT_THAT(problems_of_standins(), HasSubstr("an event that was never recorded"));
  EXPECT_EQ(cuda_->cudaEventDestroy(event), cudaSuccess);
}

/// Two members of one communicator, each on its device, which all-reduce so many elements.
TEST_F(Standins, TellMembersThatDisagreeAndLetThemHangUntilTheyAbort) {
  ncclUniqueId id{};
  ASSERT_EQ(nccl_->ncclGetUniqueId(&id), ncclSuccess);
  ncclResult_t seen[2] = {ncclSuccess, ncclSuccess};
  const auto member = [&](int rank) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclComm_t communicator = nullptr;
    cudaStream_t stream = nullptr;
    void* data = nullptr;
    (void)cuda_->cudaSetDevice(rank);
    (void)cuda_->cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    (void)cuda_->cudaMalloc(&data, kBytes);
    (void)nccl_->ncclCommInitRankConfig(&communicator, 2, id, rank, &config);
    const auto count = static_cast<std::size_t>(8 - rank);
    (void)nccl_->ncclAllReduce(data, data, count, ncclFloat32, ncclSum, communicator, stream);
    while (seen[rank] == ncclSuccess) {
      std::this_thread::yield();
      (void)nccl_->ncclCommGetAsyncError(communicator, &seen[rank]);
    }
    EXPECT_EQ(cuda_->cudaStreamQuery(stream), cudaErrorNotReady);
    EXPECT_EQ(nccl_->ncclCommAbort(communicator), ncclSuccess);
    while (cuda_->cudaStreamQuery(stream) == cudaErrorNotReady) {
      std::this_thread::yield();
    }
    (void)cuda_->cudaFree(data);
  };
  std::thread other(member, 1);
  member(0);
  other.join();
  EXPECT_EQ(seen[0], ncclInvalidUsage);
  EXPECT_EQ(seen[1], ncclInvalidUsage);
  EXPECT_THAT(problems_of_standins(), HasSubstr("ncclAllReduce of 8 elements"));
  EXPECT_THAT(problems_of_standins(), HasSubstr("ncclAllReduce of 7 elements"));
}

TEST_F(Standins, RefuseTwoRanksOnOneDevice) {
  ncclUniqueId id{};
  ASSERT_EQ(nccl_->ncclGetUniqueId(&id), ncclSuccess);
  std::atomic<int> refused = 0;
  const auto member = [&](int rank) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclComm_t communicator = nullptr;
    (void)cuda_->cudaSetDevice(3);
    ncclResult_t result = nccl_->ncclCommInitRankConfig(&communicator, 2, id, rank, &config);
    if (result == ncclInvalidUsage) {
      ++refused;
      (void)cuda_->cudaSetDevice(4);
      result = nccl_->ncclCommInitRankConfig(&communicator, 2, id, rank, &config);
    }
    EXPECT_EQ(result, ncclSuccess);
    (void)nccl_->ncclCommDestroy(communicator);
  };
  std::thread other(member, 1);
  member(0);
  other.join();
  EXPECT_EQ(refused.load(), 1);
  EXPECT_THAT(problems_of_standins(), HasSubstr("another rank has device 3"));
}

}  // namespace
}  // namespace stagewright
