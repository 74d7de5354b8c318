#include "planner/schedules/synthesis/order_clock.h"

#include <algorithm>

namespace stagewright::synthesis {
namespace {

constexpr std::int64_t kNotYet = -1;

}  // namespace

OrderClock::OrderClock(const StepTable& table)
    : table_(table), ends_(static_cast<std::size_t>(table.slots)), ranks_(table.caps.size()) {}

bool OrderClock::run(const StepLists& lists) {
  std::fill(ends_.begin(), ends_.end(), kNotYet);
  std::fill(ranks_.begin(), ranks_.end(), Rank{});
  runnable_.clear();
  for (std::size_t rank = ranks_.size(); rank-- > 0;) {
    runnable_.push_back(rank);
  }
  while (!runnable_.empty()) {
    const std::size_t rank = runnable_.back();
    runnable_.pop_back();
    if (!advance(rank, lists[rank])) {
      return false;
    }
  }
  OrderScore score{0, 0};
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const Rank& state = ranks_[rank];
    if (state.next < lists[rank].size()) {
      return false;
    }
    const std::int64_t time =
        table_.objective == SynthesisObjective::kMakespan ? state.clock : state.clock - state.first;
    score.time = std::max(score.time, time);
    score.rest += time;
  }
  score_ = score;
  return true;
}

/// As far as the rank gets.  False: it does a stage's work in the wrong order, or holds too much.
bool OrderClock::advance(std::size_t rank, const std::vector<OrderStep>& list) {
  Rank& state = ranks_[rank];
  const std::int64_t cap = table_.caps[rank];
  while (state.next < list.size()) {
    const OrderStep step = list[state.next];
    const StepType& type = table_.types[static_cast<std::size_t>(step.type)];
    std::int64_t start = state.clock + type.before;
    if (type.dependency) {
      const std::int32_t needed = *type.dependency + step.micro_batch;
      const std::int64_t end = ends_[static_cast<std::size_t>(needed)];
      if (end == kNotYet) {
        state.waits_for = needed;
        return true;
      }
      start = std::max(start, end + type.delay);
    }
    if (type.own && ends_[static_cast<std::size_t>(*type.own + step.micro_batch)] == kNotYet) {
      return false;
    }
    if (state.next == 0) {
      state.first = start - type.before;
    }
    state.held += type.take;
    if (state.held > cap) {
      return false;
    }
    state.held -= type.give;
    state.clock = start + type.duration;
    ++state.next;
    const std::int32_t slot = type.slot + step.micro_batch;
    ends_[static_cast<std::size_t>(slot)] = state.clock;
    if (type.consumer) {
      Rank& consumer = ranks_[static_cast<std::size_t>(*type.consumer)];
      if (consumer.waits_for == slot) {
        consumer.waits_for.reset();
        runnable_.push_back(static_cast<std::size_t>(*type.consumer));
      }
    }
  }
  return true;
}

}  // namespace stagewright::synthesis
