#pragma once

#include <cstdint>
#include <unordered_map>

#include "core/base/units.h"
#include "core/schedule/operation.h"
#include "planner/search/least_exposed.h"
#include "sim/cost/cost_model.h"

namespace stagewright {

/// Collectives of one group of replicas, each priced once.  Not for several threads at once.
class ReplicaPrices {
 public:
  /// `machine` must outlive this object.
  ReplicaPrices(const PricedMachine& machine, const GroupGeometry& group)
      : machine_(&machine), group_(group) {}

  /// Of so many bytes, whether anything hides it or not.
  [[nodiscard]] Duration of(OpKind kind, Bytes bytes);

 private:
  const PricedMachine* machine_;
  GroupGeometry group_;
  std::unordered_map<std::uint64_t, Duration> known_;  ///< by size and kind
};

}  // namespace stagewright
