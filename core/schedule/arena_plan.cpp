#include <algorithm>
#include <map>
#include <numeric>

#include "core/schedule/lifetimes.h"

namespace stagewright {
namespace {

/// Gaps of a block of memory that grows at its end.
class FreeList {
 public:
  /// The lowest gap that is large enough, else more memory.
  [[nodiscard]] std::int64_t take(std::int64_t size) {
    for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
      if (gap->second >= size) {
        const auto [offset, length] = *gap;
        gaps_.erase(gap);
        if (length > size) {
          gaps_.emplace(offset + size, length - size);
        }
        return offset;
      }
    }
    std::int64_t offset = capacity_;
    if (!gaps_.empty()) {
      const auto last = std::prev(gaps_.end());
      if (last->first + last->second == capacity_) {
        offset = last->first;
        gaps_.erase(last);
      }
    }
    capacity_ = offset + size;
    return offset;
  }

  void give_back(std::int64_t offset, std::int64_t size) {
    auto next = gaps_.lower_bound(offset);
    if (next != gaps_.end() && next->first == offset + size) {
      size += next->second;
      next = gaps_.erase(next);
    }
    if (next != gaps_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == offset) {
        before->second += size;
        return;
      }
    }
    gaps_.emplace(offset, size);
  }

  [[nodiscard]] std::int64_t capacity() const { return capacity_; }

 private:
  std::map<std::int64_t, std::int64_t> gaps_;  ///< offset -> size; never two that touch
  std::int64_t capacity_ = 0;
};

}  // namespace

ArenaPlan plan_arena(const std::vector<Lifetime>& lifetimes) {
  std::vector<std::size_t> by_last(lifetimes.size());
  std::iota(by_last.begin(), by_last.end(), std::size_t{0});
  std::ranges::stable_sort(by_last, {}, [&](std::size_t i) { return lifetimes[i].last; });

  ArenaPlan plan;
  plan.offsets.resize(lifetimes.size());
  FreeList free_list;
  const auto place = [&](std::size_t i) {
    if (lifetimes[i].bytes > Bytes{}) {
      plan.offsets[i] = free_list.take(lifetimes[i].bytes.count());
    }
  };
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    if (!lifetimes[i].micro_batch) {
      place(i);
    }
  }
  std::size_t ended = 0;
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    if (!lifetimes[i].micro_batch) {
      continue;
    }
    for (; lifetimes[by_last[ended]].last < lifetimes[i].first; ++ended) {
      const Lifetime& over = lifetimes[by_last[ended]];
      if (over.bytes > Bytes{}) {
        free_list.give_back(plan.offsets[by_last[ended]], over.bytes.count());
      }
    }
    place(i);
  }
  plan.capacity = Bytes(free_list.capacity());
  return plan;
}

}  // namespace stagewright
