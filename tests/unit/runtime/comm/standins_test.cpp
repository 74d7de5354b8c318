// What the stand-ins refuse: a test that passes over them means that none of this happened.

#include <atomic>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

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
