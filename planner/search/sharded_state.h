#pragma once

#include <cstdint>

#include "core/base/units.h"

namespace stagewright {

/// What one of `replicas` holds: ZeRO stage 1 divides the optimizer's state among them, stage 2
/// gradients, too, stage 3 parameters, too.
[[nodiscard]] inline Bytes sharded_state(Bytes parameters,
                                         Bytes gradients,
                                         Bytes optimizer_state,
                                         std::int32_t zero,
                                         std::int32_t replicas) {
  const auto share = [&](Bytes whole, std::int32_t from) {
    return Bytes(whole.count() / (zero >= from ? replicas : 1));
  };
  return share(parameters, 3) + share(gradients, 2) + share(optimizer_state, 1);
}

}  // namespace stagewright
