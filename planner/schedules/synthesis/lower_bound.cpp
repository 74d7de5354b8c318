#include "planner/schedules/synthesis/lower_bound.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace stagewright::synthesis {
namespace {

/// Per rank the least of what leads to, or follows after, any of its stages.
void keep_least(std::optional<std::int64_t>& least, std::int64_t time) {
  least = std::min(time, least.value_or(time));
}

/// What a rank loses when it splits one backward, so that a weight half can be its last step.
std::int64_t split_penalty(const StepTable& table, std::int32_t stage) {
  const std::int64_t halves = table.at(stage, StepPart::kInputHalf).duration +
                              table.at(stage, StepPart::kWeightHalf).duration;
  return std::max<std::int64_t>(0, halves - table.at(stage, StepPart::kWholeBackward).duration);
}

}  // namespace

std::int64_t lower_bound(const StepTable& table) {
  const std::size_t ranks = table.caps.size();
  std::vector<std::optional<std::int64_t>> heads(ranks);
  std::vector<std::optional<std::int64_t>> tails(ranks);
  std::int64_t head = 0;
  std::int64_t tail = 0;
  for (std::int32_t stage = 0; stage < table.frame.stages; ++stage) {
    const auto rank = static_cast<std::size_t>(table.rank_of(stage));
    if (stage > 0) {
      head += table.at(stage, StepPart::kForward).delay;
      tail += table.at(stage - 1, StepPart::kInputHalf).delay;
    }
    keep_least(heads[rank], head);
    keep_least(tails[rank], std::min(tail, split_penalty(table, stage)));
    head += table.at(stage, StepPart::kForward).duration;
    tail += std::min(table.at(stage, StepPart::kInputHalf).duration,
                     table.at(stage, StepPart::kWholeBackward).duration);
  }
  std::int64_t bound = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::int64_t work =
        table.work_of(static_cast<std::int32_t>(rank)) * table.frame.micro_batches;
    bound = std::max(bound,
                     table.objective == SynthesisObjective::kSpan
                         ? work
                         : heads[rank].value_or(0) + work + tails[rank].value_or(0));
  }
  return bound;
}

}  // namespace stagewright::synthesis
