#include "runtime/trainer/live_steps.h"

#include <string>
#include <utility>

namespace stagewright {

LiveSteps::LiveSteps(const Schedule& schedule, Duration interval, Tell tell)
    : schedule_(schedule),
      interval_(std::chrono::duration_cast<std::chrono::nanoseconds>(interval)),
      tell_(std::move(tell)),
      ranks_(schedule.ranks.size()) {}

bool LiveSteps::wants(std::int32_t step) {
  const std::lock_guard lock(mutex_);
  if (asked_ != step) {
    asked_ = step;
    wanted_ = !told_ || std::chrono::steady_clock::now() - *told_ >= interval_;
    added_ = 0;
  }
  return wanted_;
}

void LiveSteps::add(const RankPlan& plan,
                    const StepRecord& record,
                    const std::optional<StepTotals>& totals) {
  std::unique_lock lock(mutex_);
  RankMeasurements& rank = ranks_[plan.rank.index()];
  rank = {.plan = &plan, .steps = {record}, .totals = {}};
  rank.steps.front().step = 0;
  if (totals) {
    rank.totals.push_back(*totals);
  }
  if (++added_ < ranks_.size()) {
    return;
  }
  told_ = std::chrono::steady_clock::now();
  Trace trace = measured_trace(schedule_, ranks_, "wall");
  lock.unlock();
  trace.made_by["step"] = std::to_string(record.step);
  tell_(trace);
}

}  // namespace stagewright
