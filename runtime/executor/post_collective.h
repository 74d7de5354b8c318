#pragma once

#include <cstdint>

#include "core/schedule/operation.h"
#include "runtime/comm/communicator.h"

namespace stagewright {

/// What a collective reads and writes.
struct CollectiveOperands {
  const void* in = nullptr;
  std::int64_t elements = 0;             ///< of `in`
  const std::int32_t* counts = nullptr;  ///< of counted rows
  void* out = nullptr;
};

/// Posts the collective to its group.
Event post_collective(const Operation& operation,
                      Communicator& group,
                      const CollectiveOperands& operands,
                      Stream& stream,
                      const Event& after);

}  // namespace stagewright
