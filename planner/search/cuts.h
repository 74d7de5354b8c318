#pragma once

#include <cstdint>
#include <vector>

namespace stagewright {

/// Ways to cut a chain of layers into that many contiguous, non-empty stages: (layers - 1 choose
/// stages - 1), or the largest number where that is less.
[[nodiscard]] std::int64_t cut_count(std::int64_t layers, std::int64_t stages);

/// Layers by stage of the cut with that number, in lexicographic order.  REQUIRES: 0 <= number <
/// cut_count(layers, stages).
[[nodiscard]] std::vector<std::int32_t> cut_numbered(std::int32_t layers,
                                                     std::int32_t stages,
                                                     std::int64_t number);

/// Equal counts, the first stages with one more where they cannot be equal.
[[nodiscard]] std::vector<std::int32_t> even_cut(std::int32_t layers, std::int32_t stages);

}  // namespace stagewright
