#include "core/schedule/memory_reuse.h"

#include <algorithm>
#include <iterator>

#include "core/base/check.h"

namespace stagewright {

MemoryReuse::MemoryReuse(const RankProgram& program)
    : program_(program),
      lifetimes_(stagewright::lifetimes(program)),
      arena_(plan_arena(lifetimes_)),
      persistent_(program.tensors.size()) {
  for (; next_ < lifetimes_.size() && !lifetimes_[next_].micro_batch; ++next_) {
    persistent_[lifetimes_[next_].tensor.index()] = next_;
  }
}

std::vector<std::size_t> MemoryReuse::begin(ProgramPoint point) {
  std::vector<std::size_t> from;
  for (; next_ < lifetimes_.size() && lifetimes_[next_].first <= point; ++next_) {
    const Lifetime& lifetime = lifetimes_[next_];
    current_[{lifetime.tensor, *lifetime.micro_batch}] = next_;
    const std::int64_t offset = arena_.offsets[next_];
    take(offset, offset + lifetime.bytes.count(), next_, from);
  }
  return from;
}

std::size_t MemoryReuse::current(TensorId tensor, MicroBatchId micro_batch) const {
  if (program_.tensors[tensor.index()].scope == TensorScope::kPersistent) {
    return persistent_[tensor.index()];
  }
  const auto found = current_.find({tensor, micro_batch});
  SW_CHECK(found != current_.end(), "a lifetime that has begun");
  return found->second;
}

void MemoryReuse::take(std::int64_t begin,
                       std::int64_t end,
                       std::size_t lifetime,
                       std::vector<std::size_t>& from) {
  if (begin == end) {
    return;
  }
  auto stretch = last_.upper_bound(begin);
  if (stretch != last_.begin() && std::prev(stretch)->second.end > begin) {
    --stretch;
  }
  while (stretch != last_.end() && stretch->first < end) {
    const auto [start, old] = *stretch;
    if (std::ranges::find(from, old.lifetime) == from.end()) {
      from.push_back(old.lifetime);
    }
    stretch = last_.erase(stretch);
    if (start < begin) {
      last_.emplace(start, Stretch{begin, old.lifetime});
    }
    if (old.end > end) {
      last_.emplace(end, old);
    }
  }
  last_.emplace(begin, Stretch{end, lifetime});
}

}  // namespace stagewright
