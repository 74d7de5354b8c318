#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stagewright {

/// "1 micro-batch", "2 micro-batches", "0 copies": a count with its English noun, for messages.
[[nodiscard]] std::string counted(std::int64_t count, std::string_view noun);

}  // namespace stagewright
