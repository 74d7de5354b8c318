#pragma once

#include <cstdint>
#include <optional>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/plan/plan.h"

namespace stagewright {

/// Context parallelism: members divide the tokens of each sequence (Schedule::sequence_parts) and
/// hold the same weights.  Only attention sees other tokens: keys and values go round the ring of
/// the members (Liu et al. 2023, "Ring Attention").  In all else members are like replicas, so that
/// the gradients of both are summed together (axes/data.h).
struct ContextAxis {
  std::int32_t degree = 1;
  std::optional<GroupSlot> group;  ///< present with more than one member
  friend bool operator==(const ContextAxis&, const ContextAxis&) = default;

  /// Tokens of a sequence that a member has.
  [[nodiscard]] std::int64_t tokens(const Plan& plan) const { return plan.sequence / degree; }
};

/// Fails with kInfeasible where the sequence does not divide into two blocks a member.
[[nodiscard]] Result<void> check_context_degree(const Plan& plan);

}  // namespace stagewright
