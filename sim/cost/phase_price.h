#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/schedule/rank_program.h"
#include "sim/cost/cost_model.h"

namespace stagewright {

/// What the prices of a rank's operations depend on beside the operations.
struct RankPlace {
  const DeviceType* device = nullptr;
  std::vector<GroupGeometry> groups;     ///< by GroupSlot
  std::vector<std::string> group_kinds;  ///< by GroupSlot: "tensor", "data", ...
  // What rank_rules.h adds.
  ExecutionRules rules;
  double stretch = 1;  ///< of all times: stragglers
  /// By GroupSlot: all members run one program, so that none waits for another; empty: unknown.
  std::vector<bool> alike;
  /// Ranks that hold the same activations, each of which may send its part of them.
  std::int32_t activation_copies = 1;
  /// Share of the collectives of each bucket that nothing hides; empty: all of it.
  struct BucketShare {
    double reduce = 1;
    double gather = 1;
    friend bool operator==(const BucketShare&, const BucketShare&) = default;
  };
  std::vector<BucketShare> exposed;  ///< by bucket
  /// Time that a stage's passes wait for a message, where receivers ask for what they need.
  struct StageWait {
    Duration forward{};
    Duration backward{};
    friend bool operator==(const StageWait&, const StageWait&) = default;
  };
  std::map<StageId, StageWait> waits;
};

/// The price of one operation inside its phase.
struct PricedOperation {
  std::int32_t op = 0;  ///< index into ActionOperations::ops
  Duration duration{};
  /// From the start of the phase, when all that it needs is there and all streams are idle.
  Duration start{};
  PriceSource source = PriceSource::kAnalytical;
  bool blocks = false;  ///< a collective that the compute stream waits for at once
  friend bool operator==(const PricedOperation&, const PricedOperation&) = default;
};

/// A phase of a stage program (or of a bucket, or the optimizer step), alone on its rank.
struct PhasePrice {
  Duration compute{};                ///< until the compute stream has done its last operation
  Duration total{};                  ///< until the last operation on any stream
  std::vector<PricedOperation> ops;  ///< those the phase includes, in order
  /// Idle time of the compute stream before `compute`, waiting for a collective, by kind of group.
  std::map<std::string, Duration> exposed;
  /// What measured segments took beyond their operations one by one (may be negative).  Counted
  /// where all operations of the segment were measured, too.
  Duration glue{};
  std::map<PriceSource, Duration> by_source;  ///< sum of the operations' durations
  double seconds = 0;                         ///< as in PricedOperations
  Flops flops{};
  Bytes bytes{};  ///< memory traffic of the compute operations
  friend bool operator==(const PhasePrice&, const PhasePrice&) = default;
};

/// Durations of a selection of operations, before any waiting.
struct PricedOperations {
  std::vector<PricedOperation> ops;  ///< one each, in order; all start at zero
  Duration glue{};                   ///< as in PhasePrice
  /// Of all one after the other.  Beyond kLongestSeconds, where sums of durations would overflow,
  /// it alone is right and the durations are zero.
  double seconds = 0;
  friend bool operator==(const PricedOperations&, const PricedOperations&) = default;
};

/// A message of so many bytes between two ranks, from a rank at `place`: as long as it is on the
/// link without hindering computation.
[[nodiscard]] Duration message_time(Bytes size,
                                    const GroupGeometry& ends,
                                    const RankPlace& place,
                                    const CostModel& cost);

/// The same, whether it hinders computation or not.
[[nodiscard]] Duration whole_message_time(Bytes size,
                                          const GroupGeometry& ends,
                                          const RankPlace& place,
                                          const CostModel& cost);

/// The longest measured segment wins: the whole selection, else each layer's contiguous run, else
/// each run between collectives, else the single operation.  A segment's time is spread over its
/// operations in proportion to their own prices.  What the place's rules add comes last: a layer's
/// pass lasts at least as long as the host issues its kernels, collectives have their skew.
/// REQUIRES: every collective's group slot lies in `place`.
[[nodiscard]] PricedOperations price_operations(const RankProgram& program,
                                                const ActionOperations& selection,
                                                const RankPlace& place,
                                                const CostModel& cost);

/// Runs the phase by the rules of operation.h on idle streams.  REQUIRES: as price_operations.
[[nodiscard]] PhasePrice price_phase(const RankProgram& program,
                                     const ActionOperations& selection,
                                     const RankPlace& place,
                                     const CostModel& cost);

}  // namespace stagewright
