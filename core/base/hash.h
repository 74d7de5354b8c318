#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stagewright {

/// 128-bit content hash (XXH3) as 32 lower-case hexadecimal digits: the same on every
/// machine.  For recognising equal content, not for security.
[[nodiscard]] std::string content_hash(std::string_view content);
/// The same in 64 bits (another function), as a number.
[[nodiscard]] std::uint64_t hash64(std::string_view content);

}  // namespace stagewright
