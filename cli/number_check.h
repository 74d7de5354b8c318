#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace stagewright {

/// A finite number that is the whole text, as all options read theirs: decimal or with an
/// exponent, no unit, no blanks.
[[nodiscard]] std::optional<double> parse_number(const std::string& text);

/// Checks of numbers on the command line, for CLI::Option::check: empty when `text` will do,
/// otherwise what is wrong and what to write.
[[nodiscard]] std::string positive_count(const std::string& text);       ///< 1 .. 2^31 - 1
[[nodiscard]] std::string non_negative_count(const std::string& text);   ///< 0 .. 2^31 - 1
[[nodiscard]] std::string positive_number(const std::string& text);      ///< finite, above 0
[[nodiscard]] std::string non_negative_number(const std::string& text);  ///< finite, 0 or more
[[nodiscard]] std::string seed_number(const std::string& text);          ///< 0 .. 2^64 - 1
[[nodiscard]] std::string share_number(const std::string& text);         ///< 0 .. 1
/// Above 0 and no longer than the clock counts, in seconds.
[[nodiscard]] std::string seconds_number(const std::string& text);

}  // namespace stagewright
