#pragma once

#include <cstdint>

namespace stagewright {

/// A port that nobody listens on, outside of the range from which systems give ports to whoever
/// connects somewhere, and begun elsewhere by each process, since tests run side by side.
[[nodiscard]] std::uint16_t free_port();

}  // namespace stagewright
