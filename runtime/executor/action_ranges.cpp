#include "runtime/executor/action_ranges.h"

#include <unistd.h>

#include <fmt/format.h>
#include <nvtx3/nvToolsExt.h>

namespace stagewright {

ActionRanges::ActionRanges(const RankPlan& plan)
    : thread_(fmt::format("rank {}", plan.rank.value())) {
  for (const Action& action : plan.program->actions) {
    actions_.push_back(to_string(action));
  }
}

void ActionRanges::enter(std::int32_t action) {
  if (entered_ == action) {
    return;
  }
  leave();
  if (!thread_.empty()) {
    nvtxNameOsThreadA(static_cast<std::uint32_t>(::gettid()), thread_.c_str());
    thread_.clear();
  }
  nvtxRangePushA(actions_[static_cast<std::size_t>(action)].c_str());
  entered_ = action;
}

void ActionRanges::leave() {
  if (entered_) {
    nvtxRangePop();
    entered_.reset();
  }
}

}  // namespace stagewright
