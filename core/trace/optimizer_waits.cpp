#include "core/trace/optimizer_waits.h"

#include <algorithm>
#include <tuple>

#include "core/model/op.h"

namespace stagewright {
namespace {

auto owner_of(const TraceEvent& event) {
  return std::tuple(event.rank, event.step, event.action_index);
}
auto owner_of(const OptimizerWait& wait) {
  return std::tuple(wait.rank, wait.step, wait.action_index);
}

}  // namespace

bool is_optimizer(ActionKind kind) {
  return kind == ActionKind::kOptimizerStep || kind == ActionKind::kUpdateParameters;
}

OptimizerWaits::OptimizerWaits(const Trace& trace) {
  std::vector<const TraceEvent*> ops;
  for (const TraceEvent& event : trace.events) {
    if (event.op_index && event.op && is_optimizer(event.action)) {
      ops.push_back(&event);
    }
  }
  std::ranges::stable_sort(ops, [](const TraceEvent* a, const TraceEvent* b) {
    return std::tuple(owner_of(*a), a->start) < std::tuple(owner_of(*b), b->start);
  });
  for (auto begin = ops.begin(); begin != ops.end();) {
    const auto end = std::find_if(
        begin, ops.end(), [&](const TraceEvent* op) { return owner_of(*op) != owner_of(**begin); });
    add_action(std::span(begin, end), trace.measured);
    begin = end;
  }
}

void OptimizerWaits::add_action(std::span<const TraceEvent* const> ops, bool measured) {
  TimePoint busy_until = measured ? ops.front()->start : TimePoint::min();
  for (const TraceEvent* const op : ops) {
    const TimePoint from =
        std::min(op->start, measured ? busy_until : std::max(op->ready, busy_until));
    const bool waits = op->start - from >= (measured ? kOperationStart : Duration(1));
    const bool for_members = class_of(*op->op) == OpClass::kCollective;
    if (waits || for_members) {
      waits_.push_back({.rank = op->rank,
                        .step = op->step,
                        .action_index = op->action_index,
                        .from = waits ? from : op->start,
                        .to = op->start,
                        .for_members = for_members});
    }
    busy_until = std::max(busy_until, op->end);
  }
}

std::span<const OptimizerWait> OptimizerWaits::of(const TraceEvent& action) const {
  if (!is_optimizer(action.action)) {
    return {};
  }
  const auto found = std::ranges::equal_range(
      waits_, owner_of(action), {}, [](const OptimizerWait& wait) { return owner_of(wait); });
  return {found.begin(), found.end()};
}

std::vector<WorkedStretch> OptimizerWaits::worked(const TraceEvent& action) const {
  std::vector<WorkedStretch> stretches;
  TimePoint from = action.start;
  for (const OptimizerWait& wait : of(action)) {
    const TimePoint until = std::max(wait.from, from);
    if (wait.to > until && wait.to <= action.end) {
      if (until > from) {
        stretches.push_back({from, until});
      }
      from = wait.to;
    }
  }
  if (action.end > from || stretches.empty()) {
    stretches.push_back({from, action.end});
  }
  return stretches;
}

Duration OptimizerWaits::worked_time(const TraceEvent& action) const {
  Duration sum{};
  for (const WorkedStretch& stretch : worked(action)) {
    sum += stretch.end - stretch.start;
  }
  return sum;
}

}  // namespace stagewright
