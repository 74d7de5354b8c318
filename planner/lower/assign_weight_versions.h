#pragma once

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/schedule/pipeline_order.h"

namespace stagewright {

/// The tensors that a stage has of each weight, numbered from 0, where weights change while
/// micro-batches are under way.
struct StageVersions {
  std::int32_t slots = 1;
  std::int32_t newest_at_end = 0;  ///< slot of the newest weights behind the list
  /// An update moves slot 0 to slot 1 before it changes slot 0 (else it makes the slot that it
  /// names from the one before, in a ring).
  bool keeps_previous = false;
  friend bool operator==(const StageVersions&, const StageVersions&) = default;
};

struct VersionedOrder {
  PipelineOrder order;                ///< actions name slots, updates stand among them
  std::vector<StageVersions> stages;  ///< by stage
};

/// Pass: for an order with PipelineOrder::updates, which weights every action uses and where they
/// are updated: behind the last backward of each group of micro-batches.
///  - With the newest weights (PipeDream, Narayanan et al. 2019, section 3.3: weight stashing) a
///    forward uses what the updates before it made, its backward the same; the slots are a ring of
///    as many versions as are needed at once.
///  - One behind (PipeDream-2BW, Narayanan et al. 2021, section 3.1) the micro-batches of group t
///    use what the update of group t - 2 made: W(t + 1) = W(t) - f(gradient at W(t - 1)).  Slot 0
///    is the newest, slot 1 the one before; they carry over from one list to the next.
/// Other orders are left as they are.  kInfeasible where a group is not whole, or one behind does
/// not reach because so many micro-batches are under way.
[[nodiscard]] Result<VersionedOrder> assign_weight_versions(PipelineOrder order);

}  // namespace stagewright
