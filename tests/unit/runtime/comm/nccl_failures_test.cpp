// What goes wrong on a device or on the way: every rank ends, and says why.

#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "communicator_conformance.h"
#include "nccl_worlds.h"
#include "runtime/backend_error.h"
#include "runtime/libraries/cuda_library.h"
#include "standin_library.h"

namespace stagewright {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

const Event kNow = Event::none();

/// Memory of the stand-in's device.
class DeviceFloats {
 public:
  DeviceFloats(const CudaLibrary& cuda, std::size_t count) : cuda_(cuda), count_(count) {
    cuda_.check(cuda_.cudaMalloc(&data_, count * sizeof(float)), "cudaMalloc");
    std::memset(data_, 0, count * sizeof(float));
  }
  DeviceFloats(const DeviceFloats&) = delete;
  DeviceFloats& operator=(const DeviceFloats&) = delete;
  ~DeviceFloats() { (void)cuda_.cudaFree(data_); }

  [[nodiscard]] RecvBuffer buffer() const { return {data_, count_, ElementType::kFloat32}; }

 private:
  const CudaLibrary& cuda_;
  std::size_t count_;
  void* data_ = nullptr;
};

using Body = std::function<void(Endpoint&, const CudaLibrary&)>;

/// What each rank ended with; "" where it ended well.
[[nodiscard]] std::vector<std::string> run(const WorldSpec& spec,
                                           Duration timeout,
                                           const Body& body) {
  const std::shared_ptr<const CudaLibrary> cuda = load_cuda(standin_cuda_file()).value();
  const std::unique_ptr<World> world = make_nccl_worlds(spec, {.timeout = timeout}).value();
  std::vector<std::string> messages(world->endpoints().size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        body(*world->endpoints()[i], *cuda);
      } catch (const BackendError& error) {
        messages[i] = error.error().message;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return messages;
}

void reduce_five_times(Endpoint& endpoint, const CudaLibrary& cuda) {
  const DeviceFloats gradient(cuda, 1000);
  const std::unique_ptr<Stream> stream = endpoint.make_stream("gradients");
  for (int round = 0; round < 5; ++round) {
    endpoint.group(GroupId(0))
        ->all_reduce(gradient.buffer(), Reduction::kSum, *stream, kNow)
        .wait();
  }
}

TEST(NcclWorld, ReducesMemoryOfTheDeviceWithoutAProblem) {
  configure_standins({.longest_delay_us = 100});
  EXPECT_THAT(run(one_group(4), std::chrono::seconds(120), reduce_five_times), Each(""));
  EXPECT_EQ(problems_of_standins(), "");
}

TEST(NcclWorld, AnAsynchronousErrorEndsEveryRankAndNamesTheGroup) {
  configure_standins({});
  const auto messages =
      run(one_group(3), std::chrono::seconds(120), [](Endpoint& endpoint, const CudaLibrary& cuda) {
        if (endpoint.rank() == RankId(0)) {
          inject_nccl_fault(kStandinAsyncError, 2, 1);
        }
        const std::unique_ptr<Stream> stream = endpoint.make_stream("start");
        endpoint.world().barrier(*stream, kNow).wait();
        reduce_five_times(endpoint, cuda);
      });
  EXPECT_THAT(messages,
              Each(AllOf(HasSubstr("rank 2: NCCL reports a failure of group 'all'"),
                         HasSubstr("unhandled system error (the link went down (injected))"))));
}

TEST(NcclWorld, ADeviceThatHangsEndsTheRunWithinTheLimit) {
  configure_standins({});
  const auto begin = std::chrono::steady_clock::now();
  const auto messages = run(one_group(3),
                            std::chrono::milliseconds(500),
                            [](Endpoint& endpoint, const CudaLibrary& cuda) {
                              if (endpoint.rank() == RankId(0)) {
                                inject_nccl_fault(kStandinHang, 1, 1);
                              }
                              const std::unique_ptr<Stream> stream = endpoint.make_stream("start");
                              endpoint.world().barrier(*stream, kNow).wait();
                              reduce_five_times(endpoint, cuda);
                            });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  EXPECT_THAT(messages,
              Each(AllOf(HasSubstr("waited 500 ms for all_reduce of 1000 float32 (sum)"),
                         HasSubstr("group 'all'"),
                         HasSubstr("all ranks have arrived"))));
}

TEST(NcclWorld, MemoryThatIsNotTheDevicesIsRefused) {
  configure_standins({});
  const auto messages =
      run(one_group(2), std::chrono::seconds(120), [](Endpoint& endpoint, const CudaLibrary&) {
        std::vector<float> host(10);
        const std::unique_ptr<Stream> stream = endpoint.make_stream("gradients");
        endpoint.world().all_reduce(recv_buffer(host), Reduction::kSum, *stream, kNow).wait();
      });
  EXPECT_THAT(messages, Each(HasSubstr("all_reduce of 10 float32 (sum) (#1 of the world) failed")));
  EXPECT_THAT(problems_of_standins(), HasSubstr("uses 40 bytes that no device call allocated"));
}

TEST(NcclWorld, ABufferThatIsTooShortIsRefused) {
  configure_standins({});
  const auto messages =
      run(one_group(2), std::chrono::seconds(120), [](Endpoint& endpoint, const CudaLibrary& cuda) {
        const DeviceFloats part(cuda, 10);
        const DeviceFloats whole(cuda, 19);
        const std::unique_ptr<Stream> stream = endpoint.make_stream("weights");
        endpoint.world()
            .all_gather({part.buffer().data, 10, ElementType::kFloat32},
                        {whole.buffer().data, 20, ElementType::kFloat32},
                        *stream,
                        kNow)
            .wait();
      });
  EXPECT_THAT(messages, Each(HasSubstr("all_gather of 10 float32 from each")));
  EXPECT_THAT(problems_of_standins(), HasSubstr("uses 80 bytes at byte 0 of an allocation of 76"));
}

[[nodiscard]] std::string problem_of_world(const WorldSpec& spec, const NcclOptions& options) {
  const Result<std::unique_ptr<World>> world = make_nccl_worlds(spec, options);
  return world ? "" : world.error().to_string();
}

TEST(NcclWorld, AFailedAllocationEndsTheStartOfAllRanks) {
  configure_standins({.allocations_until_failure = 1});
  EXPECT_THAT(problem_of_world(one_group(2), {.start_limit = std::chrono::seconds(60)}),
              HasSubstr("cudaMalloc failed: out of memory (cudaErrorMemoryAllocation)"));
}

TEST(NcclWorld, ARankWithoutADeviceOfItsOwnIsRefused) {
  configure_standins({.devices = 1});
  const Result<std::unique_ptr<World>> world =
      make_nccl_world(one_group(1),
                      {.launch = {.local_rank = 1},
                       .cuda_library = standin_cuda_file(),
                       .nccl_library = standin_nccl_file()});
  ASSERT_FALSE(world.has_value());
  EXPECT_THAT(world.error().message,
              HasSubstr("LOCAL_RANK 1 needs a device of its own, and this machine has 1"));
}

TEST(NcclWorld, SaysThatThereIsNoDevice) {
  configure_standins({.devices = 0});
  EXPECT_THAT(problem_of_world(one_group(1), {}),
              HasSubstr("no CUDA device: no CUDA-capable device is detected"));
}

TEST(NcclWorld, SaysWhichLibraryIsMissing) {
  const auto problem = [](const std::string& cuda, const std::string& nccl) {
    const Result<std::unique_ptr<World>> world =
        make_nccl_world(one_group(1), {.cuda_library = cuda, .nccl_library = nccl});
    return world ? "" : world.error().message;
  };
  configure_standins({});
  EXPECT_THAT(
      problem("/no/such/libcudart.so", standin_nccl_file()),
      AllOf(HasSubstr("the CUDA runtime is missing"), HasSubstr("STAGEWRIGHT_CUDART_LIBRARY")));
  EXPECT_THAT(problem(standin_cuda_file(), "/no/such/libnccl.so"),
              AllOf(HasSubstr("NCCL is missing"), HasSubstr("STAGEWRIGHT_NCCL_LIBRARY")));
  EXPECT_THAT(problem("libm.so.6", standin_nccl_file()),
              HasSubstr("the CUDA runtime has no entry cuda"));
}

}  // namespace
}  // namespace stagewright
