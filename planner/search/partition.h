#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/model/model_graph.h"

namespace stagewright {

/// A unit that a cut may not divide.
struct PartitionLayer {
  Duration time{};  ///< one micro-batch, forward and backward
  Bytes state{};    ///< held all the time
  Bytes saved{};    ///< of one micro-batch from forward to backward
  /// Where it may be recomputed: what that adds to `time`, and what it leaves of `saved`.
  Duration time_again{};
  Bytes saved_again{};
  /// What a border in front of this layer adds to the stages on both of its sides.
  Duration transfer{};
  friend bool operator==(const PartitionLayer&, const PartitionLayer&) = default;
};

/// Cut a chain of layers into `in_flight.size()` contiguous, non-empty stages.
struct PartitionProblem {
  std::vector<PartitionLayer> layers;
  /// Per stage: micro-batches whose activations it holds at once.
  std::vector<double> in_flight;
  /// Most that a stage may hold: sum of state + in_flight * sum of saved; absent: no limit.
  std::optional<Bytes> capacity;
  /// A stage that does not fit otherwise recomputes its first layers, as few as it takes.
  bool recompute = false;
};

struct Partition {
  std::vector<std::int32_t> layers;      ///< per stage, all >= 1; they add up to the chain
  std::vector<std::int32_t> recomputed;  ///< per stage: of its first layers
  Duration slowest{};                    ///< largest time of a stage
  friend bool operator==(const Partition&, const Partition&) = default;
};

/// The partition with the least `slowest`, exact by dynamic programming over (stage, last layer)
/// in O(stages * layers^2 log layers); among equals the one whose early stages are shorter. Nothing
/// if no partition satisfies the capacity or there are fewer layers than stages. REQUIRES: no
/// negative number; saved_again <= saved.
[[nodiscard]] std::optional<Partition> partition(const PartitionProblem& problem);

/// The layers of a model that is no chain, merged into units between which a single value passes
/// (ModelGraph's topological order): first layer of each unit in that order.  Fails on a cycle.
[[nodiscard]] Result<std::vector<std::size_t>> chain_units(const ModelGraph& model);

}  // namespace stagewright
