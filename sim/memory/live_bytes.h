#pragma once

#include <array>
#include <cstddef>

#include "core/base/units.h"
#include "core/schedule/tensor.h"

namespace stagewright {

/// Live bytes by class of tensor.
using LiveBytes = std::array<Bytes, kTensorClassCount>;

[[nodiscard]] inline Bytes total_of(const LiveBytes& live) {
  Bytes total{};
  for (const Bytes bytes : live) {
    total += bytes;
  }
  return total;
}

inline LiveBytes& operator+=(LiveBytes& live, const LiveBytes& more) {
  for (std::size_t i = 0; i < live.size(); ++i) {
    live[i] += more[i];
  }
  return live;
}

}  // namespace stagewright
