#include "core/base/units.h"

#include <concepts>
#include <limits>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

using namespace std::chrono_literals;

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Divisible = requires(A a, B b) {
  a / b;
};

static_assert(Addable<Bytes, Bytes>);
static_assert(!Addable<Bytes, Flops>);
static_assert(!Addable<Bytes, int>);
static_assert(!Addable<TimePoint, TimePoint>);
static_assert(Divisible<Bytes, BytesPerSecond>);
static_assert(!Divisible<Flops, BytesPerSecond>);
static_assert(!std::convertible_to<double, BytesPerSecond>);

TEST(Units, TransferTimeIsSizeOverRate) {
  EXPECT_EQ(Bytes(25'000'000'000) / 25_GBps, 1s);
  EXPECT_EQ(1_B / 1000_GBps, Duration(1));
  EXPECT_EQ(to_string(1_GiB / 900_GBps), "1.193 ms");
}

TEST(Units, TextFormsAreReadBack) {
  EXPECT_EQ(parse_bytes("80 GiB"), 80_GiB);
  EXPECT_EQ(parse_bytes("80GB"), Bytes(80'000'000'000));
  EXPECT_EQ(parse_duration("2.5 us"), 2500ns);
  EXPECT_EQ(parse_bandwidth("400 Gb/s"), BytesPerSecond(50e9));
  EXPECT_EQ(parse_flop_rate("989.5 TFLOP/s"), FlopsPerSecond(989.5e12));
  EXPECT_EQ(to_string(80_GiB), "80 GiB");
  EXPECT_EQ(to_string(450_GBps), "450 GB/s");
}

TEST(Units, AWrongUnitNamesTheTextAndTheKnownUnits) {
  const auto wrong = parse_bandwidth("450 Gps");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_NE(wrong.error().message.find("'450 Gps'"), std::string::npos);
  EXPECT_NE(wrong.error().message.find("GB/s"), std::string::npos);
  EXPECT_FALSE(parse_bytes("80").has_value());
  EXPECT_FALSE(parse_bytes("80 gb").has_value());
  EXPECT_FALSE(parse_bytes("").has_value());
  EXPECT_FALSE(parse_bytes("inf GB").has_value());
}

TEST(Units, ExactTextIsShortAndReadsBackToTheSameValue) {
  EXPECT_EQ(to_exact_string(80_GiB), "80 GiB");
  EXPECT_EQ(to_exact_string(Bytes(81559LL << 20)), "81559 MiB");
  EXPECT_EQ(to_exact_string(Bytes(0)), "0 B");
  EXPECT_EQ(to_exact_string(Duration(5'500'000)), "5.5 us");
  EXPECT_EQ(to_exact_string(FlopsPerSecond(494.5e12)), "494.5 TFLOP/s");
  for (const std::int64_t value : {1LL, 3LL, 999'999'999'999'999LL, 123'456'789'012'345LL}) {
    EXPECT_EQ(*parse_bytes(to_exact_string(Bytes(value))), Bytes(value));
    EXPECT_EQ(*parse_duration(to_exact_string(Duration(value))), Duration(value));
  }
  for (const double value : {1.0, 1.0 / 3, 1e9 / 7, 2.45e10, 0.1 + 0.2}) {
    EXPECT_EQ(*parse_bandwidth(to_exact_string(BytesPerSecond(value))), BytesPerSecond(value));
    EXPECT_EQ(*parse_flop_rate(to_exact_string(FlopsPerSecond(value))), FlopsPerSecond(value));
  }
}

TEST(Durations, BeyondTheClockAreTheLongest) {
  using namespace std::chrono_literals;
  EXPECT_EQ(from_seconds(1e300), 4'000'000s);
  EXPECT_EQ(from_seconds(-1e300), -4'000'000s);
  EXPECT_EQ(from_seconds(std::numeric_limits<double>::quiet_NaN()), 4'000'000s);
  EXPECT_FALSE(parse_duration("4000001 s"));
}

}  // namespace
}  // namespace stagewright
