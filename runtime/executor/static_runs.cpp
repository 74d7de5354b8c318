#include "runtime/executor/static_runs.h"

#include <algorithm>

namespace stagewright {

namespace {

/// Whether it looks at nothing that changes from step to step but the content of tensors.
[[nodiscard]] bool is_static(const Operation& operation) {
  switch (operation.kind) {
    case OpKind::kDropout:       // the step's random numbers
    case OpKind::kLossFinish:    // the loss scale
    case OpKind::kLossGradient:  // the same
    case OpKind::kSquaredSum:
    case OpKind::kSgdStep:
    case OpKind::kAdamWStep:
      return false;
    default:
      return true;
  }
}

}  // namespace

std::vector<std::size_t> static_runs(const RankPlan& plan,
                                     const std::function<bool(const Operation&)>& reads_back,
                                     const std::vector<bool>& awaited) {
  const std::vector<Instruction>& all = plan.instructions;
  const auto can_run = [&](const Instruction& instruction) {
    return instruction.kind == InstructionKind::kCompute && is_static(*instruction.operation) &&
           !reads_back(*instruction.operation);
  };
  const auto ends = [&](std::size_t i) {
    return awaited[i] || plan.totals_complete == static_cast<std::int32_t>(i);
  };
  std::vector<std::size_t> runs(all.size());
  for (std::size_t first = 0; first < all.size();) {
    std::size_t end = first;
    while (end < all.size() && can_run(all[end]) &&
           (end == first ||
            (!ends(end - 1) && all[end].waits.empty() && all[end].action == all[first].action))) {
      ++end;
    }
    if (end > first) {
      runs[first] = end;
    }
    first = std::max(end, first + 1);
  }
  return runs;
}

}  // namespace stagewright
