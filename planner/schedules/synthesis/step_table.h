#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/schedule/pipeline_order.h"
#include "planner/schedules/synthesis/request.h"

namespace stagewright::synthesis {

/// What a step of a candidate order is, besides its micro-batch: a part of a stage's work.
enum class StepPart : std::uint8_t {
  kForward,
  kInputHalf,
  kWeightHalf,
  kWholeBackward,
};
inline constexpr std::int32_t kStepParts = 4;

/// A stage's part with all that timing asks of it.  Ends are kept in slots: a whole backward ends
/// in the slot of the input half, so that whoever waits for the gradient need not know which it is.
struct StepType {
  std::int32_t rank = 0;
  std::int32_t slot = 0;                   ///< of micro-batch 0; the others follow
  std::optional<std::int32_t> dependency;  ///< slot of what comes from the neighbouring stage
  std::optional<std::int32_t> own;         ///< slot of what the stage must have done before
  std::optional<std::int32_t> consumer;    ///< another rank that waits for `slot`
  std::int64_t delay = 0;                  ///< from the dependency's end until it is here
  std::int64_t before = 0;                 ///< recomputation, which waits for no gradient
  std::int64_t duration = 0;
  std::int64_t take = 0;  ///< memory from its start on
  std::int64_t give = 0;  ///< memory that its end frees
};

/// One step of a candidate: an index into the table and a micro-batch.
struct OrderStep {
  std::int32_t type = 0;
  std::int32_t micro_batch = 0;
  friend bool operator==(const OrderStep&, const OrderStep&) = default;
};

/// A candidate: what each rank does, in order.
using StepLists = std::vector<std::vector<OrderStep>>;

/// A request under one placement, laid out for timing thousands of orders.
struct StepTable {
  PipelineOrder frame;             ///< sizes and placement, no actions
  std::vector<StepType> types;     ///< [stage * kStepParts + part]
  std::vector<std::int64_t> caps;  ///< by rank
  std::vector<bool> whole;         ///< by stage: a whole backward is cheaper than its halves
  bool halves_hold_more = false;   ///< than a whole backward, between them
  SynthesisObjective objective = SynthesisObjective::kMakespan;
  std::int32_t slots = 0;

  [[nodiscard]] static std::int32_t type_of(std::int32_t stage, StepPart part) {
    return stage * kStepParts + static_cast<std::int32_t>(part);
  }
  [[nodiscard]] static std::int32_t stage_of(std::int32_t type) { return type / kStepParts; }
  [[nodiscard]] static StepPart part_of(std::int32_t type) {
    return static_cast<StepPart>(type % kStepParts);
  }
  [[nodiscard]] const StepType& at(std::int32_t stage, StepPart part) const {
    return types[static_cast<std::size_t>(type_of(stage, part))];
  }
  [[nodiscard]] std::int32_t rank_of(std::int32_t stage) const {
    return frame.placement[0][static_cast<std::size_t>(stage)];
  }
  /// Of one micro-batch on a rank, whichever backward is cheaper.
  [[nodiscard]] std::int64_t work_of(std::int32_t rank) const;
};

/// REQUIRES: a frame of one copy for the request's shape; costs for each of its stages.
[[nodiscard]] StepTable make_step_table(const SynthesisRequest& request, PipelineOrder frame);

/// The steps of a generated order; recomputations are part of their backwards.  With `split`, a
/// whole backward is taken apart where its halves are not dearer: no time gets later by that, but
/// they may hold more.
[[nodiscard]] StepLists to_steps(const StepTable& table, const PipelineOrder& order, bool split);
/// The order of a candidate, with recomputations right before their backwards.
[[nodiscard]] PipelineOrder to_order(const StepTable& table, const StepLists& lists);

}  // namespace stagewright::synthesis
