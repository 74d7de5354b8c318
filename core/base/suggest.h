#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stagewright {

/// The candidate nearest to `name` by edit distance, if it is near enough to be a
/// plausible slip of the keyboard (at most a third of the letters differ).
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view name,
                                                      std::span<const std::string_view> candidates);

/// "; did you mean 'x'?" or, when nothing is near, "; known: a, b, c".
[[nodiscard]] std::string suggestion(std::string_view name,
                                     std::span<const std::string_view> candidates);

}  // namespace stagewright
