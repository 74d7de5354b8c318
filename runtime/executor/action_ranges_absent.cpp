#include "runtime/executor/action_ranges.h"

namespace stagewright {

ActionRanges::ActionRanges(const RankPlan& /*plan*/) {}

void ActionRanges::enter(std::int32_t action) {
  entered_ = action;
}

void ActionRanges::leave() {
  entered_.reset();
}

}  // namespace stagewright
