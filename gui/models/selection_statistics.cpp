#include "gui/models/selection_statistics.h"

#include <algorithm>
#include <array>
#include <optional>

namespace stagewright::gui {
namespace {

struct Sum {
  std::int64_t count = 0;
  std::int64_t within = 0;
  std::int64_t whole = 0;
  std::int64_t least = 0;
  std::int64_t most = 0;
};

/// An action, whole and within the range; one that stands in parts is added up.
struct Added {
  std::size_t kind = 0;
  std::int64_t length = 0;
  std::int64_t within = 0;
};

void add(const Added& action, Sum& sum) {
  sum.least = sum.count == 0 ? action.length : std::min(sum.least, action.length);
  sum.most = std::max(sum.most, action.length);
  sum.whole += action.length;
  sum.within += action.within;
  ++sum.count;
}

}  // namespace

SelectionStatistics statistics_of(const ActionStore& store, const RangeSelection& range) {
  std::array<Sum, kActionKindCount> sums{};
  SelectionStatistics statistics{.length = Duration(range.to - range.from)};
  for (const LaneIndex index : range.lanes) {
    const Lane& lane = store.lanes[index];
    if (lane.use == LaneUse::kCompared || lane.use == LaneUse::kError) {
      continue;
    }
    // Further lanes of a rank hold what ran beside the first: they do not add to its time.
    statistics.compute_lanes += lane.use == LaneUse::kCompute && lane.number == 0 ? 1U : 0U;
    std::optional<Added> action;
    for (ActionIndex i = store.first_ending_after(lane, static_cast<double>(range.from));
         i < lane.end && store.start[i] < range.to;
         ++i) {
      const std::int64_t within =
          std::min(store.end[i], range.to) - std::max(store.start[i], range.from);
      if (action && !goes_on(store, lane, i)) {
        add(*action, sums[action->kind]);
        action.reset();
      }
      action = action.value_or(Added{.kind = static_cast<std::size_t>(store.kind[i])});
      action->length += store.end[i] - store.start[i];
      action->within += within;
      if (lane.use == LaneUse::kCompute && lane.number == 0) {
        statistics.busy += Duration(within);
      }
    }
    if (action) {
      add(*action, sums[action->kind]);
    }
  }
  for (std::size_t kind = 0; kind < sums.size(); ++kind) {
    const Sum& sum = sums[kind];
    if (sum.count > 0) {
      statistics.kinds.push_back({.kind = static_cast<ActionKind>(kind),
                                  .count = sum.count,
                                  .total = Duration(sum.within),
                                  .mean = Duration(sum.whole / sum.count),
                                  .least = Duration(sum.least),
                                  .most = Duration(sum.most)});
    }
  }
  std::ranges::stable_sort(statistics.kinds, std::ranges::greater{}, &KindStatistics::total);
  const double time = to_seconds(statistics.length) * static_cast<double>(statistics.compute_lanes);
  statistics.idle_share = time > 0 ? 1 - to_seconds(statistics.busy) / time : 0;
  return statistics;
}

RangeSelection everything(const ActionStore& store) {
  RangeSelection range{.from = 0, .to = store.length};
  for (LaneIndex lane = 0; lane < store.lanes.size(); ++lane) {
    range.lanes.push_back(lane);
  }
  return range;
}

}  // namespace stagewright::gui
