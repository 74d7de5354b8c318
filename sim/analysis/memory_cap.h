#pragma once

#include <cstdint>
#include <vector>

#include "core/schedule/pipeline_order.h"
#include "core/schedule/token_list.h"

namespace stagewright {

/// A rank that holds more activations (micro-batches of a stage, from F until B or W) than it may.
struct CapExcess {
  std::int32_t rank = 0;
  std::int64_t cap = 0;
  std::int32_t held = 0;   ///< at its peak
  std::int32_t place = 0;  ///< in the rank's list, from 0: where it is first above the cap
  Action action{};         ///< the one that stands there, of a pair the forward
  friend bool operator==(const CapExcess&, const CapExcess&) = default;
};

/// All ranks above their caps, ascending.  REQUIRES: a cap for each rank.
[[nodiscard]] std::vector<CapExcess> above_caps(const TokenList& list,
                                                const std::vector<std::int64_t>& caps);
[[nodiscard]] std::vector<CapExcess> above_caps(const PipelineOrder& order,
                                                const std::vector<std::int64_t>& caps);

}  // namespace stagewright
