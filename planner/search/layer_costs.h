#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/cluster/cluster.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"
#include "planner/search/distinct_layers.h"
#include "sim/cost/cost_model.h"

namespace stagewright {

struct LayerExamples;

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
  /// The halves of a backward that is split.  Together they may take longer than the whole: each
  /// waits for the host by itself, and no weight gradient hides a collective of the input half.
  Duration input{};
  Duration weight{};
  Duration input_leading{};  ///< `leading`, of the input half
  Duration optimizer{};      ///< of all replicas' shards together
  Bytes parameters{};
  Bytes gradients{};         ///< what the data-parallel reduction moves
  Bytes optimizer_state{};   ///< master weights, moments
  Bytes saved{};             ///< activations that one micro-batch keeps from forward to backward
  Bytes saved_for_weight{};  ///< part of `saved` that weight gradients read
  Bytes pending{};           ///< made by the input half of a backward for its weight gradients
  /// Beside what is saved for it and the layers before it, while it goes backward.
  Bytes working{};
  Bytes input_working{};  ///< the same of the input half, less what waits for the weight half
  friend bool operator==(const LayerCost&, const LayerCost&) = default;

  [[nodiscard]] Duration time() const { return forward + backward; }
  /// What adds up over the layers of a stage: not what only its ends contribute.
  LayerCost& operator+=(const LayerCost& other);
  LayerCost& operator-=(const LayerCost& other);
};

/// Per-layer costs of a model for one tensor degree, micro-batch size and recompute choice, from
/// lowering and pricing one example of each distinct layer: repeated layers cost nothing more.
struct LayerCosts {
  std::vector<LayerCost> layers;  ///< one per layer of the model
  std::vector<LayerCost> before;  ///< [i]: sum of the first i layers; one more than layers
  /// [i]: where the run of equal layers ends that layer i belongs to.
  std::vector<std::size_t> alike_until;
  Duration longest{};  ///< of a layer
  /// The kind of layer that takes longest in all: how many there are, and one of them.
  std::int64_t repeated = 0;
  LayerCost each;
  /// Shares of the last layer's parameters, gradients and optimizer state that a stage which also
  /// holds the first layer saves: tied weights.  Of the time of its update all.
  LayerCost tied;
  /// Activation that crosses a stage border per micro-batch; where borders differ the smallest.
  Bytes border{};
};

/// Of all layers.
[[nodiscard]] inline const LayerCost& sum_of(const LayerCosts& costs) {
  return costs.before.back();
}

/// `shape` fixes tp, micro_batch_size, sequence, precision, optimizer and the recompute choice of
/// its first stage; its other fields do not matter.  The tensor group is on the first devices.
/// Fails as lower() does (heads not divisible by tp, ...), and with kUnsupported where the layers'
/// times do not add up in picoseconds.
[[nodiscard]] Result<LayerCosts> layer_costs(const ModelGraph& model,
                                             const Cluster& cluster,
                                             const CostModel& cost,
                                             const Plan& shape);
/// The same of examples that are lowered already (layer_examples.h), for a tensor group that sits
/// as `tensor` says; absent: on the first devices.
[[nodiscard]] Result<LayerCosts> layer_costs(const ModelGraph& model,
                                             const DistinctLayers& distinct,
                                             const LayerExamples& examples,
                                             const CostModel& cost,
                                             const Plan& shape,
                                             const std::optional<GroupGeometry>& tensor);

}  // namespace stagewright
