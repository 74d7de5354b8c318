#include "planner/search/least_held.h"

#include <algorithm>
#include <string_view>

#include "planner/schedules/registry.h"

namespace stagewright {
namespace {

std::string_view schedule_of(const PlanPoint& point) {
  return schedule_generators()[static_cast<std::size_t>(point.schedule)].name;
}

}  // namespace

double least_in_flight(const PlanPoint& point, std::int32_t rank) {
  const std::string_view name = schedule_of(point);
  const double batches = point.micro_batches;
  const double after = point.pp - rank;
  const double stages = point.virtual_stages;
  if (point.pp == 1) {
    return name == "gpipe" || name == "looped-bfs" ? batches : 1;
  }
  if (name == "gpipe" || name == "looped-bfs") {
    return batches;
  }
  if (name == "1f1b" || name == "zb-h1" || name == "zb-h1-quick-start") {
    return std::min(batches, after);
  }
  if (name == "eager-1f1b" || name == "zb-h2") {
    return std::min(batches, 2 * after - 1);
  }
  if (name == "interleaved-1f1b" || name == "interleaved-zero-bubble") {
    const std::int32_t group = point.micro_batches / std::max(1, point.micro_batches / point.pp);
    const double ahead = name == "interleaved-1f1b" ? 2 * (after - 1) : after - 1;
    return std::min(stages * batches, (stages - 1) * group + ahead + 1) / stages;
  }
  // The first micro-batch comes back only after it has been everywhere.
  return 1.0 / stages;
}

double least_waiting(const PlanPoint& point, std::int32_t rank) {
  const std::string_view name = schedule_of(point);
  const bool looped = name == "zb-h1" || name == "zb-h1-quick-start" || name == "zb-h2" ||
                      name == "interleaved-zero-bubble";
  if (!looped || point.pp == 1) {
    return 0;
  }
  const double waiting = (name == "zb-h2" ? 2.0 : 1.0) * rank;
  const double before = least_in_flight(point, rank) * point.virtual_stages;
  const double all = static_cast<double>(point.virtual_stages) * point.micro_batches;
  return before + waiting <= all ? waiting : 0;
}

}  // namespace stagewright
