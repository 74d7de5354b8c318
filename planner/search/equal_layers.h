#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/units.h"

namespace stagewright {

/// A chain of equal layers between two others: a transformer between its embedding and its head.
struct EqualLayers {
  Duration first{};
  Duration each{};  ///< of the layers between, more than zero
  Duration last{};
  std::int64_t between = 1;
};

/// The chain as such; nothing where the layers between its ends differ or take no time, or there
/// are none.
[[nodiscard]] std::optional<EqualLayers> equal_layers(std::span<const Duration> times);

/// What partition() finds for these times, without memory and transfers, in O(stages + log layers).
/// REQUIRES: 1 <= stages <= between + 2.
[[nodiscard]] std::vector<std::int32_t> cut_equal_layers(const EqualLayers& chain,
                                                         std::int32_t stages);

}  // namespace stagewright
