#include "planner/search/least_held.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "planner/schedules/registry.h"

namespace stagewright {
namespace {

/// Schedules by what is known of the micro-batches that they hold.
enum class Holds : std::uint8_t {
  kAll,
  kOneForward,       ///< 1F1B
  kOneForwardSplit,  ///< its backwards split
  kTwoForward,       ///< twice as many ahead
  kTwoForwardSplit,
  kInterleaved,
  kInterleavedSplit,
  kUnknown
};

Holds holds_of(std::string_view name) {
  return name == "gpipe" || name == "looped-bfs"          ? Holds::kAll
         : name == "1f1b"                                 ? Holds::kOneForward
         : name == "zb-h1" || name == "zb-h1-quick-start" ? Holds::kOneForwardSplit
         : name == "eager-1f1b"                           ? Holds::kTwoForward
         : name == "zb-h2"                                ? Holds::kTwoForwardSplit
         : name == "interleaved-1f1b"                     ? Holds::kInterleaved
         : name == "interleaved-zero-bubble"              ? Holds::kInterleavedSplit
                                                          : Holds::kUnknown;
}

Holds holds_of(const PlanPoint& point) {
  static const std::vector<Holds> kHolds = [] {
    std::vector<Holds> holds;
    for (const ScheduleGenerator& generator : schedule_generators()) {
      holds.push_back(holds_of(generator.name));
    }
    return holds;
  }();
  return kHolds[static_cast<std::size_t>(point.schedule)];
}

}  // namespace

double least_in_flight(const PlanPoint& point, std::int32_t rank) {
  const double batches = point.micro_batches;
  const double after = point.pp - rank;
  const double stages = point.virtual_stages;
  const Holds holds = holds_of(point);
  if (holds == Holds::kAll) {
    return batches;
  }
  if (point.pp == 1) {
    return 1;
  }
  switch (holds) {
    case Holds::kOneForward:
    case Holds::kOneForwardSplit:
      return std::min(batches, after);
    case Holds::kTwoForward:
    case Holds::kTwoForwardSplit:
      return std::min(batches, 2 * after - 1);
    case Holds::kInterleaved:
    case Holds::kInterleavedSplit: {
      const std::int32_t group = point.micro_batches / std::max(1, point.micro_batches / point.pp);
      const double ahead = holds == Holds::kInterleaved ? 2 * (after - 1) : after - 1;
      return std::min(stages * batches, (stages - 1) * group + ahead + 1) / stages;
    }
    default:
      // The first micro-batch comes back only after it has been everywhere.
      return 1.0 / stages;
  }
}

double least_waiting(const PlanPoint& point, std::int32_t rank) {
  const Holds holds = holds_of(point);
  const bool looped = holds == Holds::kOneForwardSplit || holds == Holds::kTwoForwardSplit ||
                      holds == Holds::kInterleavedSplit;
  if (!looped || point.pp == 1) {
    return 0;
  }
  const double waiting = (holds == Holds::kTwoForwardSplit ? 2.0 : 1.0) * rank;
  const double before = least_in_flight(point, rank) * point.virtual_stages;
  const double all = static_cast<double>(point.virtual_stages) * point.micro_batches;
  return before + waiting <= all ? waiting : 0;
}

}  // namespace stagewright
