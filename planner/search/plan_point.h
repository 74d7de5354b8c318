#pragma once

#include <cstdint>

#include "core/plan/plan.h"

namespace stagewright {

/// A point of the search space: one value of every dimension (planner/search/dimension.h).  Its
/// stages are cut, and recomputed layers counted, only where it is priced.
struct PlanPoint {
  std::int32_t tp = 1;
  std::int32_t pp = 1;
  std::int32_t cp = 1;
  std::int32_t ep = 1;
  std::int32_t expert_tp = 1;
  std::int32_t dp = 1;
  std::int32_t micro_batch_size = 1;
  std::int32_t micro_batches = 1;  ///< per replica and step
  bool sequence_parallel = false;
  Recompute recompute = Recompute::kNone;
  /// Each stage recomputes as few whole layers as its memory asks for; `recompute` is kFull.
  bool recompute_fits = false;
  std::int32_t recompute_layers = 0;  ///< of each stage, from its first; 0: all
  std::int32_t virtual_stages = 1;
  std::int32_t schedule = 0;  ///< into schedule_generators()
  /// How layers are cut into stages: kBalancedCut, kEvenCut, or kFirstCut + the number of the
  /// composition (space.h).
  std::int32_t cut = 0;
  std::int32_t rank_order = 0;  ///< into rank_orders()
  std::int32_t zero = 0;
  std::int32_t shard_group = 0;       ///< replicas that divide one copy of the state; 0: all
  std::int32_t bucket_megabytes = 0;  ///< 0: one bucket a stage
  bool short_transfers = false;       ///< bf16 between stages that compute in more

  friend bool operator==(const PlanPoint&, const PlanPoint&) = default;

  [[nodiscard]] std::int64_t devices() const { return std::int64_t{tp} * pp * cp * dp; }
  [[nodiscard]] std::int32_t stages() const { return pp * virtual_stages; }
};

inline constexpr std::int32_t kBalancedCut = 0;  ///< least slowest stage (partition.h)
inline constexpr std::int32_t kEvenCut = 1;      ///< equal counts, the first stages one larger
inline constexpr std::int32_t kFirstCut = 2;

}  // namespace stagewright
