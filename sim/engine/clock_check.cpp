#include "sim/engine/clock_check.h"

#include <fmt/format.h>

#include "core/base/longest_time.h"

namespace stagewright {

Result<void> check_clock(const StepGraph& step) {
  constexpr double kDay = 86400;
  double all = 0;
  double longest = 0;
  RankId rank;
  for (const ClassWork& work : step.classes) {
    double seconds = 0;
    for (std::size_t action = 0; action < work.actions.size(); ++action) {
      seconds += work.phases.of_action(action).seconds;
    }
    all += seconds;
    if (seconds > longest) {
      longest = seconds;
      rank = work.rank;
    }
  }
  for (std::size_t i = 0; i < step.nodes.size(); ++i) {
    if (step.nodes[i].kind == StepNode::Kind::kTransfer) {
      all += to_seconds(step.durations[i]);
    }
  }
  if (all > kLongestSeconds) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("a step is too long for the clock of picoseconds: the work of its "
                    "distinct ranks and the transfers take {:.3g} days one after the other "
                    "(rank {} alone {:.3g}), and the clock counts {:.0f}; check the rates of "
                    "devices and links, or take a smaller batch",
                    all / kDay,
                    rank.value(),
                    longest / kDay,
                    kLongestSeconds / kDay));
  }
  return {};
}

}  // namespace stagewright
