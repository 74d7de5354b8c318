#include "runtime/profiler/device_clocks.h"

#include <gmock/gmock.h>

namespace stagewright {
namespace {

using testing::HasSubstr;

TEST(DeviceClocks, TellTheRangeAndWhatSlowedThemDown) {
  const auto clocks = DeviceClocks::open("00000000:01:00.0", STAGEWRIGHT_STANDIN_NVML);
  ASSERT_TRUE(clocks) << clocks.error().to_string();
  for (int i = 0; i < 4; ++i) {
    (*clocks)->look();
  }
  // The stand-in's clock falls by 15 MHz a look; every second one meets the power cap.
  const std::map<std::string, std::string> expected = {{"clocks", "SM 1935 to 1980 MHz of 1980"},
                                                       {"throttling", "power cap (2 of 4 looks)"},
                                                       {"driver", "580.0"}};
  EXPECT_EQ((*clocks)->summary(), expected);
}

TEST(DeviceClocks, AreNotKnownOfAnotherDevice) {
  const auto clocks = DeviceClocks::open("00000000:09:00.0", STAGEWRIGHT_STANDIN_NVML);
  ASSERT_FALSE(clocks);
  EXPECT_THAT(clocks.error().message, HasSubstr("00000000:09:00.0: Not Found"));
}

TEST(DeviceClocks, AreNotKnownWithoutNvml) {
  const auto clocks = DeviceClocks::open("00000000:01:00.0", "/no/such/library.so");
  ASSERT_FALSE(clocks);
  EXPECT_EQ(clocks.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(clocks.error().message, HasSubstr("NVML is missing"));
}

}  // namespace
}  // namespace stagewright
