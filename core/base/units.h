#pragma once

/// Physical quantities used everywhere in the project.
///
/// Time is std::chrono with a signed 64-bit count of picoseconds: exact,
/// identical on every machine, and good for 106 days of simulated time.
/// Sizes are integers; rates and work are doubles.  A bare double or int
/// never carries a unit across a function boundary.

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stagewright {

using Duration = std::chrono::duration<std::int64_t, std::pico>;

/// Clock of the simulator and of recorded traces.  It has no now(): only an
/// engine or a profiler may produce a time point.
struct TraceClock {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<TraceClock>;
  static constexpr bool is_steady = true;
};
using TimePoint = TraceClock::time_point;

/// Since the beginning of the trace.
[[nodiscard]] constexpr std::int64_t picoseconds(TimePoint time) {
  return time.time_since_epoch().count();
}

/// A number with a dimension.  `Dim` only keeps different quantities apart.
template <class Dim, class Rep>
class Quantity {
 public:
  using rep = Rep;
  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep value) : value_(value) {}

  [[nodiscard]] constexpr Rep count() const { return value_; }

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, Rep k) { return Quantity(a.value_ * k); }
  friend constexpr Quantity operator*(Rep k, Quantity a) { return a * k; }
  friend constexpr Quantity operator/(Quantity a, Rep k) { return Quantity(a.value_ / k); }
  /// Ratio of two like quantities, a plain number.
  friend constexpr double operator/(Quantity a, Quantity b) {
    return static_cast<double>(a.value_) / static_cast<double>(b.value_);
  }

 private:
  Rep value_{};
};

using Bytes = Quantity<struct BytesDim, std::int64_t>;
using Flops = Quantity<struct FlopsDim, double>;
using BytesPerSecond = Quantity<struct BytesPerSecondDim, double>;
using FlopsPerSecond = Quantity<struct FlopsPerSecondDim, double>;

/// Rounds to the nearest picosecond.  REQUIRES: seconds fits in Duration.
[[nodiscard]] Duration from_seconds(double seconds);
[[nodiscard]] constexpr double to_seconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}

[[nodiscard]] inline Duration operator/(Bytes size, BytesPerSecond rate) {
  return from_seconds(static_cast<double>(size.count()) / rate.count());
}
[[nodiscard]] inline Duration operator/(Flops work, FlopsPerSecond rate) {
  return from_seconds(work.count() / rate.count());
}
[[nodiscard]] inline BytesPerSecond operator/(Bytes size, Duration d) {
  return BytesPerSecond(static_cast<double>(size.count()) / to_seconds(d));
}

inline namespace literals {
constexpr Bytes operator""_B(unsigned long long v) {
  return Bytes(static_cast<std::int64_t>(v));
}
constexpr Bytes operator""_MiB(unsigned long long v) {
  return Bytes(static_cast<std::int64_t>(v) << 20);
}
constexpr Bytes operator""_GiB(unsigned long long v) {
  return Bytes(static_cast<std::int64_t>(v) << 30);
}
constexpr BytesPerSecond operator""_GBps(long double v) {
  return BytesPerSecond(static_cast<double>(v) * 1e9);
}
constexpr BytesPerSecond operator""_GBps(unsigned long long v) {
  return BytesPerSecond(static_cast<double>(v) * 1e9);
}
constexpr FlopsPerSecond operator""_TFLOPS(long double v) {
  return FlopsPerSecond(static_cast<double>(v) * 1e12);
}
constexpr FlopsPerSecond operator""_TFLOPS(unsigned long long v) {
  return FlopsPerSecond(static_cast<double>(v) * 1e12);
}
}  // namespace literals

// Text forms.  Written with four significant digits for people: "1.234 ms", "16 GiB",
// "450 GB/s", "312 TFLOP/s".
[[nodiscard]] std::string to_string(Duration d);
[[nodiscard]] std::string to_string(Bytes size);
[[nodiscard]] std::string to_string(BytesPerSecond rate);
[[nodiscard]] std::string to_string(FlopsPerSecond rate);

// For files: the shortest text that reads back to exactly the same value ("81559 MiB").
[[nodiscard]] std::string to_exact_string(Duration d);
[[nodiscard]] std::string to_exact_string(Bytes size);
[[nodiscard]] std::string to_exact_string(BytesPerSecond rate);
[[nodiscard]] std::string to_exact_string(FlopsPerSecond rate);

// Read back, one spelling a unit, case matters: B kB MB GB TB (powers of 1000) and KiB MiB
// GiB TiB (powers of 1024); ps ns us ms s min h; the same sizes with /s, and b/s kb/s Mb/s
// Gb/s Tb/s for bits; FLOP/s with k M G T P before it.  Number and unit may be
// separated by one space.  The error names the text and the known units.
[[nodiscard]] Result<Duration> parse_duration(std::string_view text);
[[nodiscard]] Result<Bytes> parse_bytes(std::string_view text);
[[nodiscard]] Result<BytesPerSecond> parse_bandwidth(std::string_view text);
[[nodiscard]] Result<FlopsPerSecond> parse_flop_rate(std::string_view text);

}  // namespace stagewright
