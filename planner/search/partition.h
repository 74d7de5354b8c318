#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/units.h"

namespace stagewright {

/// What one layer costs where it is placed, for one tensor degree, micro-batch size and
/// recompute choice.
struct LayerCost {
  Duration forward{};   ///< one micro-batch
  Duration backward{};  ///< one micro-batch, recomputation included
  /// Part of `backward` that needs no gradient from the layer behind: recomputation.
  Duration leading{};
  /// Part of `backward` that runs after the gradient of the layer's input is complete: weight
  /// gradients that hold up no stage before.
  Duration trailing{};
  Bytes state{};  ///< parameters, gradients, optimizer
  Bytes saved{};  ///< activations that one micro-batch keeps from forward to backward
  friend bool operator==(const LayerCost&, const LayerCost&) = default;
};

/// Cut a chain of layers into `in_flight.size()` contiguous, non-empty stages.
struct PartitionProblem {
  std::vector<LayerCost> layers;
  /// Per stage: micro-batches whose activations it holds at once.
  std::vector<std::int32_t> in_flight;
  /// Most that a stage may hold: sum of state + in_flight * sum of saved; absent: no limit.
  std::optional<Bytes> capacity;
};

struct Partition {
  std::vector<std::int32_t> layers;  ///< per stage, all >= 1; they add up to the chain
  Duration slowest{};                ///< largest forward + backward of a stage
  friend bool operator==(const Partition&, const Partition&) = default;
};

/// The partition with the least `slowest`, exact by dynamic programming over (stage, last layer)
/// in O(stages * layers^2); among equals the one whose early stages are shorter.  Nothing if no
/// partition satisfies the capacity or there are fewer layers than stages.
[[nodiscard]] std::optional<Partition> partition(const PartitionProblem& problem);

}  // namespace stagewright
