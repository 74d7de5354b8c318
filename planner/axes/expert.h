#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"
#include "planner/axes/data.h"
#include "planner/axes/tensor.h"

namespace stagewright {

/// Expert parallelism (Lepikhin et al. 2021): members of a group, which see different tokens,
/// divide the experts of each layer and send tokens to whoever has the experts that these chose.
/// Groups are made of the ranks that sum their other gradients together (axes/data.h).
struct ExpertAxis {
  std::int32_t degree = 1;
  std::optional<GroupSlot> group;  ///< present with more than one member
  DataAxis replicas;               ///< ranks that have the same experts: these sum their gradients
  friend bool operator==(const ExpertAxis&, const ExpertAxis&) = default;
};

/// Experts of the model's layers, and how many a token chooses; 0 where it has none.
[[nodiscard]] std::int64_t expert_count(const ModelGraph& model);

/// Fails where the degree does not divide the experts, or the ranks that would share them.
[[nodiscard]] Result<void> check_expert_degree(const ModelGraph& model, const Plan& plan);

/// How one member holds the matrices of experts.  REQUIRES: weight.by_expert.
[[nodiscard]] WeightShard shard(const ExpertAxis& axis, const LayerWeight& weight);

/// Where counted rows (core/model/op.h) lie.
struct CountedRows {
  std::int64_t parts = 1;
  std::int64_t experts = 1;   ///< of a member
  std::int64_t largest = 0;   ///< rows of a part: every token to this member, as often as it may
  std::int64_t expected = 0;  ///< of all parts, where all experts are chosen equally often
};
[[nodiscard]] CountedRows counted_rows(const ExpertAxis& axis,
                                       std::int64_t experts,
                                       std::int64_t experts_per_token,
                                       std::int64_t rows);

}  // namespace stagewright
