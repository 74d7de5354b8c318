#include "runtime/libraries/cuda_devices.h"

#include <gmock/gmock.h>

#include "../comm/standin_library.h"
#include "tests/standins/standins.h"

namespace stagewright {
namespace {

TEST(CudaDevices, AreThoseThatTheRuntimeKnows) {
  configure_standins({.devices = 2});
  const auto machine = find_cuda_machine(standin_cuda_file());
  ASSERT_TRUE(machine) << machine.error().to_string();
  const CudaDeviceFacts second{.name = "Stand-in 1",
                               .pci_address = "00000000:02:00.0",
                               .generation = 90,
                               .multiprocessors = 1,
                               .memory = Bytes(std::int64_t{1} << 30)};
  ASSERT_EQ(machine->devices.size(), 2U);
  EXPECT_EQ(machine->devices[1], second);
}

TEST(CudaDevices, ThatAreNoneAreAnError) {
  configure_standins({.devices = 0});
  const auto machine = find_cuda_machine(standin_cuda_file());
  configure_standins({});
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(machine.error().message, testing::HasSubstr("no CUDA device"));
}

}  // namespace
}  // namespace stagewright
