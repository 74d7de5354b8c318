#include "gui/models/memory_lanes.h"

#include <algorithm>
#include <map>

namespace stagewright::gui {
namespace {

void add_sample(const MemorySample& sample, MemoryLane& lane) {
  const std::int64_t at = sample.at.time_since_epoch().count();
  // Samples at one time: the last of them is what goes on, the largest what has to fit.
  if (!lane.at.empty() && lane.at.back() == at &&
      total_of(lane.live.back()) <= total_of(sample.live)) {
    lane.live.back() = sample.live;
    return;
  }
  lane.at.push_back(at);
  lane.live.push_back(sample.live);
}

void sort_by_time(MemoryLane& lane) {
  if (std::ranges::is_sorted(lane.at)) {
    return;
  }
  std::vector<std::size_t> order(lane.at.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return lane.at[i]; });
  MemoryLane sorted{.rank = lane.rank};
  for (const std::size_t i : order) {
    sorted.at.push_back(lane.at[i]);
    sorted.live.push_back(lane.live[i]);
  }
  lane = std::move(sorted);
}

}  // namespace

LiveBytes MemoryLane::most_in(std::int64_t from, std::int64_t to) const {
  LiveBytes fullest{};
  auto i = static_cast<std::size_t>(std::ranges::upper_bound(at, from) - at.begin());
  i = i == 0 ? 0 : i - 1;  // what was alive when the stretch began
  for (; i < at.size() && (at[i] < to || at[i] <= from); ++i) {
    if (total_of(live[i]) > total_of(fullest)) {
      fullest = live[i];
    }
  }
  return fullest;
}

std::vector<MemoryLane> memory_lanes(const Trace& trace,
                                     std::int32_t step,
                                     const std::vector<RankMemory>& devices) {
  std::map<RankId, MemoryLane> by_rank;
  MemoryLane* lane = nullptr;  // samples come rank by rank
  RankId rank;
  for (const MemorySample& sample : trace.memory) {
    if (sample.step != step) {
      continue;
    }
    if (lane == nullptr || sample.rank != rank) {
      rank = sample.rank;
      lane = &by_rank[rank];
    }
    add_sample(sample, *lane);
  }
  std::vector<MemoryLane> lanes;
  for (auto& [of_rank, each] : by_rank) {
    each.rank = of_rank;
    sort_by_time(each);
    if (of_rank.index() < devices.size()) {
      each.limit = devices[of_rank.index()].whole;
      each.context = devices[of_rank.index()].context;
    }
    each.peak = each.context;
    for (std::size_t i = 0; i < each.live.size(); ++i) {
      for (std::size_t c = 0; c < each.most.size(); ++c) {
        each.most[c] = std::max(each.most[c], each.live[i][c]);
      }
      if (each.context + total_of(each.live[i]) > each.peak) {
        each.peak = each.context + total_of(each.live[i]);
        each.peak_at = i;
      }
    }
    lanes.push_back(std::move(each));
  }
  return lanes;
}

}  // namespace stagewright::gui
