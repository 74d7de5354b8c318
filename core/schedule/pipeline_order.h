#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/schedule/action.h"

namespace stagewright {

/// Weights that change while micro-batches are under way.
struct WeightUpdates {
  std::int32_t every = 1;  ///< micro-batches whose gradients make an update, in order
  bool one_behind =
      false;  ///< micro-batches use the weights before the newest whole group's update
  friend bool operator==(const WeightUpdates&, const WeightUpdates&) = default;
};

/// What a schedule generator produces: for each pipeline rank the order of its compute actions
/// (kForward .. kRecompute), without transfers.  Lowering adds the rest.
struct PipelineOrder {
  std::int32_t stages = 1;  ///< pp * virtual stages
  std::int32_t micro_batches = 1;
  std::vector<std::vector<std::int32_t>> placement;  ///< [copy][stage] = pipeline rank; one copy,
                                                     ///< but two for bidirectional schedules
  std::vector<std::int32_t> copy_of;                 ///< micro-batch -> copy; empty: all 0
  std::vector<std::vector<Action>> ranks;
  /// [rank]: ascending places in its list of the actions that run together with the next one, a
  /// forward and a backward that hide each other's communication; empty: no pair on any rank.
  std::vector<std::vector<std::int32_t>> pairs{};
  /// Asynchronous schedules; absent: one update behind the list.
  std::optional<WeightUpdates> updates{};
  friend bool operator==(const PipelineOrder&, const PipelineOrder&) = default;
};

}  // namespace stagewright
