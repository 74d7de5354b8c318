#include "core/base/units.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/base/longest_time.h"

namespace stagewright {
namespace {

struct Unit {
  std::string_view name;
  double factor;  ///< in the base unit of its kind
};

constexpr Unit kTimes[] = {
    {"ps", 1e-12}, {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}};
constexpr double kKibi = 1024;
constexpr Unit kSizes[] = {{"B", 1},
                           {"kB", 1e3},
                           {"MB", 1e6},
                           {"GB", 1e9},
                           {"TB", 1e12},
                           {"KiB", kKibi},
                           {"MiB", kKibi* kKibi},
                           {"GiB", kKibi* kKibi* kKibi},
                           {"TiB", kKibi* kKibi* kKibi* kKibi}};
constexpr Unit kBandwidths[] = {{"B/s", 1},
                                {"kB/s", 1e3},
                                {"MB/s", 1e6},
                                {"GB/s", 1e9},
                                {"TB/s", 1e12},
                                {"b/s", 0.125},
                                {"kb/s", 0.125e3},
                                {"Mb/s", 0.125e6},
                                {"Gb/s", 0.125e9},
                                {"Tb/s", 0.125e12}};
constexpr Unit kRates[] = {{"FLOP/s", 1},
                           {"kFLOP/s", 1e3},
                           {"MFLOP/s", 1e6},
                           {"GFLOP/s", 1e9},
                           {"TFLOP/s", 1e12},
                           {"PFLOP/s", 1e15}};

/// Value in the base unit, or why not.
Result<double> parse_with(std::string_view text, std::span<const Unit> units) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, value);
  std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  if (unit.starts_with(' ')) {
    unit.remove_prefix(1);
  }
  if (problem == std::errc{} && std::isfinite(value)) {
    for (const Unit& known : units) {
      if (unit == known.name) {
        return value * known.factor;
      }
    }
  }
  std::string names;
  for (const Unit& known : units) {
    names.append(names.empty() ? "" : ", ").append(known.name);
  }
  return fail(ErrorCode::kInvalidInput,
              fmt::format("'{}' is not a number with a unit; write for example '2 {}' (units: {})",
                          text,
                          units[1].name,
                          names));
}

/// The largest of `units` in which the value is at least 1.
std::string in_largest(double value, std::span<const Unit> units) {
  const Unit* chosen = units.data();
  for (const Unit& unit : units) {
    if (std::abs(value) >= unit.factor) {
      chosen = &unit;
    }
  }
  return fmt::format("{:.4g} {}", value / chosen->factor, chosen->name);
}

/// The shortest text in any of `units` that `parse` reads back to `value`, the largest unit
/// among equally short ones.
template <class Value, class Parse>
std::string exact_text(Value value, double base_value, std::span<const Unit> units, Parse parse) {
  std::string best;
  for (const Unit& unit : units) {
    std::string text = fmt::format("{} {}", base_value / unit.factor, unit.name);
    if ((best.empty() || text.size() <= best.size()) && parse(text) == value) {
      best = std::move(text);
    }
  }
  return best;
}

}  // namespace

Duration from_seconds(double seconds) {
  // Written so that what is no number is the longest, too.
  if (!(seconds < kLongestSeconds)) {
    seconds = kLongestSeconds;
  }
  return Duration(std::llround(std::max(seconds, -kLongestSeconds) * 1e12));
}

std::string to_string(Duration d) {
  return in_largest(to_seconds(d), std::span(kTimes).first(5));
}

std::string to_string(Bytes size) {
  static constexpr Unit kBinary[] = {kSizes[0], kSizes[5], kSizes[6], kSizes[7], kSizes[8]};
  return in_largest(static_cast<double>(size.count()), kBinary);
}

std::string to_string(BytesPerSecond rate) {
  return in_largest(rate.count(), std::span(kBandwidths).first(5));
}

std::string to_string(FlopsPerSecond rate) {
  return in_largest(rate.count(), kRates);
}

std::string to_exact_string(Duration d) {
  std::string text = exact_text(d, to_seconds(d), kTimes, parse_duration);
  return text.empty() ? fmt::format("{} ps", d.count()) : text;
}

std::string to_exact_string(Bytes size) {
  std::string text = exact_text(size, static_cast<double>(size.count()), kSizes, parse_bytes);
  return text.empty() ? fmt::format("{} B", size.count()) : text;
}

std::string to_exact_string(BytesPerSecond rate) {
  return exact_text(rate, rate.count(), std::span(kBandwidths).first(5), parse_bandwidth);
}

std::string to_exact_string(FlopsPerSecond rate) {
  return exact_text(rate, rate.count(), kRates, parse_flop_rate);
}

Result<Duration> parse_duration(std::string_view text) {
  auto seconds = parse_with(text, kTimes);
  if (seconds && std::abs(*seconds) > kLongestSeconds) {
    return fail(ErrorCode::kInvalidInput, fmt::format("'{}' is longer than 46 days", text));
  }
  return std::move(seconds).map(from_seconds);
}

Result<Bytes> parse_bytes(std::string_view text) {
  auto value = parse_with(text, kSizes);
  if (value && std::abs(*value) > 9e18) {
    return fail(ErrorCode::kInvalidInput, fmt::format("'{}' is too large", text));
  }
  return std::move(value).map([](double v) { return Bytes(std::llround(v)); });
}

Result<BytesPerSecond> parse_bandwidth(std::string_view text) {
  return parse_with(text, kBandwidths).map([](double v) { return BytesPerSecond(v); });
}

Result<FlopsPerSecond> parse_flop_rate(std::string_view text) {
  return parse_with(text, kRates).map([](double v) { return FlopsPerSecond(v); });
}

}  // namespace stagewright
