#include "sim/analysis/idle_split.h"

#include <algorithm>
#include <cmath>

namespace stagewright {
namespace {

Duration& of(RankBubble& bubble, BubbleCause cause) {
  return bubble.by_cause[static_cast<std::size_t>(cause)];
}

/// Divides `time` as `phases` do.
void add_phases(RankBubble& bubble, Duration time, const IdlePhases& phases) {
  const Duration sum = phases.warm_up + phases.cool_down + phases.order;
  const auto part = [&](Duration phase) {
    return sum > Duration{} ? Duration(std::llround(static_cast<double>(time.count()) *
                                                    (to_seconds(phase) / to_seconds(sum))))
                            : Duration{};
  };
  of(bubble, BubbleCause::kCoolDown) = std::min(time, part(phases.cool_down));
  of(bubble, BubbleCause::kWarmUp) =
      std::min(time - of(bubble, BubbleCause::kCoolDown), part(phases.warm_up));
  of(bubble, BubbleCause::kOrder) =
      time - of(bubble, BubbleCause::kCoolDown) - of(bubble, BubbleCause::kWarmUp);
}

}  // namespace

void IdlePhaseCounter::add_work(Duration begin, Duration end) {
  add_gap(begin);
  free_ = std::max(free_, end);
}

IdlePhases IdlePhaseCounter::finish(Duration makespan) {
  last_forward_ = last_forward_.value_or(free_);
  add_gap(makespan);
  return sums_;
}

/// The rank was idle from free_ on.
void IdlePhaseCounter::add_gap(Duration until) {
  if (until <= free_) {
    return;
  }
  const Duration gap = until - free_;
  if (filled_ && until <= *filled_) {
    sums_.warm_up += gap;
  } else if (last_forward_ && free_ >= *last_forward_) {
    sums_.cool_down += gap;
  } else {
    sums_.order += gap;
  }
}

RankBubble divide_idle(RankIdle rank) {
  std::array<Duration, kExtents>& idle = rank.idle;
  for (std::size_t extent = kExtents - 1; extent-- > 0;) {
    idle[extent] =
        std::clamp(idle[extent], std::min(Duration{}, idle[extent + 1]), idle[extent + 1]);
  }
  const auto added = [&idle](Extent extent) {
    const auto i = static_cast<std::size_t>(extent);
    return idle[i] - idle[i - 1];
  };
  RankBubble bubble{.rank = rank.rank, .alike = rank.alike, .idle = idle.back()};
  add_phases(bubble, idle.front(), rank.equal);
  of(bubble, BubbleCause::kImbalance) = added(Extent::kStages);
  of(bubble, BubbleCause::kTransfer) = added(Extent::kTransfers);
  of(bubble, BubbleCause::kCollective) = added(Extent::kCollectives);
  of(bubble, BubbleCause::kOptimizer) = added(Extent::kOptimizer);
  of(bubble, BubbleCause::kPeer) = added(Extent::kAll);
  return bubble;
}

}  // namespace stagewright
