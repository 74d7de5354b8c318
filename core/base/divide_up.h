#pragma once

#include <cstdint>

namespace stagewright {

/// The quotient, rounded up.  REQUIRES: size >= 0, parts > 0.
[[nodiscard]] constexpr std::int64_t divide_up(std::int64_t size, std::int64_t parts) {
  return (size + parts - 1) / parts;
}

}  // namespace stagewright
