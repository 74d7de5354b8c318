#include "sim/analysis/intervals.h"

#include <algorithm>
#include <cstddef>

namespace stagewright {

std::vector<Interval> united(std::vector<Interval> intervals) {
  std::erase_if(intervals, [](const Interval& i) { return i.begin >= i.end; });
  std::ranges::sort(intervals, {}, &Interval::begin);
  std::vector<Interval> result;
  for (const Interval& interval : intervals) {
    if (!result.empty() && interval.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, interval.end);
    } else {
      result.push_back(interval);
    }
  }
  return result;
}

Duration length_of(const std::vector<Interval>& intervals) {
  Duration sum{};
  for (const Interval& interval : intervals) {
    sum += interval.end - interval.begin;
  }
  return sum;
}

Duration length_outside(const std::vector<Interval>& intervals,
                        const std::vector<Interval>& cover) {
  Duration covered{};
  std::size_t first = 0;
  for (const Interval& interval : intervals) {
    while (first < cover.size() && cover[first].end <= interval.begin) {
      ++first;
    }
    for (std::size_t i = first; i < cover.size() && cover[i].begin < interval.end; ++i) {
      covered += std::min(interval.end, cover[i].end) - std::max(interval.begin, cover[i].begin);
    }
  }
  return length_of(intervals) - covered;
}

}  // namespace stagewright
