#include "cli/number_check.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <system_error>

#include <fmt/format.h>

namespace stagewright {
namespace {

template <typename Number>
std::optional<Number> parse(const std::string& text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && last == end ? std::optional(number) : std::nullopt;
}

std::string count_from(const std::string& text, std::int32_t least) {
  const auto number = parse<std::int32_t>(text);
  return number && *number >= least ? std::string()
                                    : fmt::format("'{}' is not a whole number from {} to {}",
                                                  text,
                                                  least,
                                                  std::numeric_limits<std::int32_t>::max());
}

}  // namespace

std::optional<double> parse_number(const std::string& text) {
  const auto number = parse<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::string positive_count(const std::string& text) {
  return count_from(text, 1);
}

std::string non_negative_count(const std::string& text) {
  return count_from(text, 0);
}

std::string positive_number(const std::string& text) {
  const auto number = parse_number(text);
  return number && *number > 0 ? std::string() : fmt::format("'{}' is not a number above 0", text);
}

std::string seed_number(const std::string& text) {
  // Said for itself: text to an unsigned number would take the sign and wrap.
  return parse<std::uint64_t>(text) ? std::string()
                                    : fmt::format("'{}' is not a whole number from 0 to {}",
                                                  text,
                                                  std::numeric_limits<std::uint64_t>::max());
}

std::string seconds_number(const std::string& text) {
  constexpr double kMostSeconds = 9e6;  // 104 days, in 64 bits of picoseconds
  const auto number = parse_number(text);
  return number && *number > 0 && *number <= kMostSeconds
             ? std::string()
             : fmt::format(
                   "'{}' is not a number of seconds above 0 and up to {:.0f}", text, kMostSeconds);
}

std::string non_negative_number(const std::string& text) {
  const auto number = parse_number(text);
  return number && *number >= 0 ? std::string()
                                : fmt::format("'{}' is not a number of 0 or more", text);
}

std::string share_number(const std::string& text) {
  const auto number = parse_number(text);
  return number && *number >= 0 && *number <= 1
             ? std::string()
             : fmt::format("'{}' is not a share from 0 to 1", text);
}

}  // namespace stagewright
