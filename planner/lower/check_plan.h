#pragma once

#include <cstdint>

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"

namespace stagewright {

/// Larger steps are slips of the keyboard; lists and sums of these stay in memory and 64 bits.
inline constexpr std::int64_t kMostMicroBatches = 16'384;
inline constexpr std::int64_t kMostMicroBatchTokens = std::int64_t{1} << 24;

/// kUnsupported with the reason when a replica's step is larger than the limits above.
/// REQUIRES: all are 1 or more.
[[nodiscard]] Result<void> check_step_size(std::int64_t micro_batches,
                                           std::int64_t micro_batch_size,
                                           std::int64_t sequence);

/// Pass: everything about a plan that can be said without its schedule.  Runs first; all passes
/// after it may rely on positive sizes, uniform degrees, stages that cover the model's layers in
/// order, a tensor degree that divides the model, devices that exist.  The error names the key in
/// the plan, its value and what would do.
[[nodiscard]] Result<void> check_plan(const ModelGraph& model,
                                      const Cluster& cluster,
                                      const Plan& plan);

}  // namespace stagewright
