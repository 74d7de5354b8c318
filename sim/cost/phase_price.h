#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/schedule/rank_program.h"
#include "sim/cost/cost_model.h"

namespace stagewright {

/// What a rank's operations depend on beside themselves, for their price.
struct RankPlace {
  const DeviceType* device = nullptr;
  std::vector<GroupGeometry> groups;     ///< by GroupSlot
  std::vector<std::string> group_kinds;  ///< by GroupSlot: "tensor", "data", ...
};

/// The price of one operation inside its phase.
struct PricedOperation {
  std::int32_t op = 0;  ///< index into ActionOperations::ops
  Duration duration{};
  /// From the start of the phase, when all that it needs is there and all streams are idle.
  Duration start{};
  PriceSource source = PriceSource::kAnalytical;
  friend bool operator==(const PricedOperation&, const PricedOperation&) = default;
};

/// A phase of a stage program (or of a bucket, or the optimizer step), alone on its rank.
struct PhasePrice {
  Duration compute{};                ///< until the compute stream has done its last operation
  Duration total{};                  ///< until the last operation on any stream
  std::vector<PricedOperation> ops;  ///< those the phase includes, in order
  /// Idle time of the compute stream before `compute`, waiting for a collective, by kind of group.
  std::map<std::string, Duration> exposed;
  /// What measured segments took beyond their operations' own measured times (may be negative).
  /// Counted where all operations of the segment were measured, too; spread over them in
  /// proportion.
  Duration glue{};
  std::map<PriceSource, Duration> by_source;  ///< sum of the operations' durations
  Flops flops{};
  Bytes bytes{};  ///< memory traffic of the compute operations
  friend bool operator==(const PhasePrice&, const PhasePrice&) = default;
};

/// Durations of the selected operations, one each, in order, before any waiting.  The longest
/// measured segment wins: the whole selection, else each layer's contiguous run, else each run
/// between collectives, else the single operation.
[[nodiscard]] std::vector<PricedOperation> price_operations(const ActionOperations& selection,
                                                            const RankPlace& place,
                                                            const CostModel& cost,
                                                            Duration* glue = nullptr);

/// Runs the phase by the rules of operation.h on idle streams.  REQUIRES: every collective's group
/// slot lies in `place`.
[[nodiscard]] PhasePrice price_phase(const RankProgram& program,
                                     const ActionOperations& selection,
                                     const RankPlace& place,
                                     const CostModel& cost);

}  // namespace stagewright
