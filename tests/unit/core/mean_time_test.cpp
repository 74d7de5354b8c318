#include "core/base/mean_time.h"

#include <gtest/gtest.h>

namespace stagewright {
namespace {

TEST(MeanTime, IsANumberWithAUnit) {
  EXPECT_DOUBLE_EQ(parse_mean_time("90s").value().count(), 90);
  EXPECT_DOUBLE_EQ(parse_mean_time("2.5 min").value().count(), 150);
  EXPECT_DOUBLE_EQ(parse_mean_time("5h").value().count(), 18000);
  EXPECT_DOUBLE_EQ(parse_mean_time("1ms").value().count(), 1e-3);
}

TEST(MeanTime, MayBeLongerThanADuration) {
  EXPECT_DOUBLE_EQ(parse_mean_time("264d").value().count(), 264 * 86400.0);
  EXPECT_DOUBLE_EQ(parse_mean_time("300000h").value().count(), 1.08e9);
}

TEST(MeanTime, SaysWhatIsNone) {
  for (const char* text : {"", "h", "5", "0s", "-5h", "nan h", "inf d", "1e300d", "5 hours"}) {
    const auto time = parse_mean_time(text);
    ASSERT_FALSE(time) << text;
    EXPECT_EQ(time.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(time.error().message.find("write for example 5h or 264d"), std::string::npos);
  }
}

TEST(MeanTime, AsPeopleReadIt) {
  EXPECT_EQ(to_string(MeanTime(264 * 86400.0)), "264 d");
  EXPECT_EQ(to_string(MeanTime(22500)), "6.25 h");
  EXPECT_EQ(to_string(MeanTime(90)), "1.5 min");
  EXPECT_EQ(to_string(MeanTime(1e-3)), "1 ms");
  EXPECT_EQ(to_string(MeanTime(0)), "0 ps");
}

}  // namespace
}  // namespace stagewright
