#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "planner/search/layer_costs.h"
#include "planner/search/partition.h"
#include "planner/search/space.h"
#include "sim/cost/cost_model.h"

namespace stagewright {

/// A point with its stages cut and its time bounded from below.
struct Estimate {
  std::vector<std::int32_t> stage_layers;
  Duration bound{};  ///< never above the static pass's step time
};

/// Why a point cannot hold any partition: bytes of its best-placed fullest stage.
struct Overflow {
  Bytes needed{};
  Bytes capacity{};
  Bytes state{};  ///< part of `needed`: parameters, gradients, optimizer
};

/// Closed form for one point: stages cut by partition(), then
///
///   step >= max_i ( sum_{j<i} (f_j + c) + M (f_i + b_i) + max(r_i, t_i + r_0) ) + o
///   t_i = i c - w_i + sum_{0<j<i} (b_j - u_j - w_j) + b_0 - u_0,  t_0 = 0
///
/// with f, b the stage's forward and backward, u what its backward does before it needs the
/// gradient from the stage behind (recomputation), w what its backward does after the gradient for
/// the stage before is ready, c the transfer across a border, M micro-batches, r the gradient
/// reduction after the last backward, o the smallest optimizer step: stage i cannot begin before
/// the first micro-batch has come down, must do all its work, and the last gradient must come back
/// up to stage 0.
class ClosedForm {
 public:
  /// Everything must outlive this object.
  ClosedForm(const Cluster& cluster, const CostModel& cost, double memory_share);

  /// The estimate, or nothing (with `overflow` filled) if no partition fits the memory.
  [[nodiscard]] std::optional<Estimate> evaluate(const SpacePoint& point,
                                                 const LayerCosts& costs,
                                                 Overflow& overflow) const;

 private:
  [[nodiscard]] PartitionProblem problem_of(const SpacePoint& point, const LayerCosts& costs) const;
  [[nodiscard]] Duration bound_of(const SpacePoint& point,
                                  const LayerCosts& costs,
                                  const std::vector<std::int32_t>& stage_layers) const;

  const Cluster* cluster_;
  const CostModel* cost_;
  Bytes capacity_;
};

}  // namespace stagewright
