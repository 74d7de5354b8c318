#include "happens_before.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace standin {

void merge(Clock& into, const Clock& from) {
  for (const auto& [stream, operations] : from) {
    std::uint64_t& known = into[stream];
    known = std::max(known, operations);
  }
}

void HappensBefore::enqueue(std::uint64_t stream, int device) {
  const std::lock_guard lock(mutex_);
  Clock& clock = streams_[stream];
  merge(clock, hosts_[device]);
  ++clock[stream];
}

Clock HappensBefore::clock_of(std::uint64_t stream) {
  const std::lock_guard lock(mutex_);
  return streams_[stream];
}

void HappensBefore::wait(std::uint64_t stream, const Clock& clock) {
  const std::lock_guard lock(mutex_);
  merge(streams_[stream], clock);
}

void HappensBefore::seen(int device, const Clock& clock) {
  const std::lock_guard lock(mutex_);
  merge(hosts_[device], clock);
}

void HappensBefore::cut(std::uintptr_t at) {
  const auto next = ranges_.upper_bound(at);
  if (next == ranges_.begin()) {
    return;
  }
  const auto found = std::prev(next);
  if (found->first < at && at < found->second.end) {
    Range tail = found->second;
    found->second.end = at;
    ranges_.emplace(at, std::move(tail));
  }
}

const HappensBefore::Access* HappensBefore::unordered(const Range& range,
                                                      bool writes,
                                                      const Clock& known) {
  const auto is_over = [&known](const Access& access) {
    const auto found = known.find(access.stream);
    return found != known.end() && found->second >= access.operation;
  };
  if (range.written && !is_over(*range.written)) {
    return &*range.written;
  }
  if (writes) {
    const auto found = std::find_if_not(range.read.begin(), range.read.end(), is_over);
    return found == range.read.end() ? nullptr : &*found;
  }
  return nullptr;
}

std::optional<std::string> HappensBefore::touch(std::uint64_t stream,
                                                const void* data,
                                                std::size_t bytes,
                                                bool writes,
                                                const std::string& what) {
  if (bytes == 0) {
    return std::nullopt;
  }
  const std::lock_guard lock(mutex_);
  const Clock& known = streams_[stream];
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t end = begin + bytes;
  cut(begin);
  cut(end);
  const Access access{stream, streams_[stream][stream], what};
  std::optional<std::string> wrong;
  for (std::uintptr_t at = begin; at < end;) {
    auto found = ranges_.lower_bound(at);
    if (found == ranges_.end() || found->first > at) {
      const std::uintptr_t gap_end =
          found == ranges_.end() ? end : std::min<std::uintptr_t>(end, found->first);
      found = ranges_.emplace(at, Range{gap_end, std::nullopt, {}}).first;
    }
    Range& range = found->second;
    if (const Access* other = unordered(range, writes, known); other != nullptr && !wrong) {
      wrong = fmt::format(
          "{} on stream {} {} bytes that {} on stream {} touched, with no event "
          "between them",
          what,
          stream,
          writes ? "writes" : "reads",
          other->what,
          other->stream);
    }
    if (writes) {
      range.written = access;
      range.read.clear();
    } else {
      std::erase_if(range.read, [stream](const Access& old) { return old.stream == stream; });
      range.read.push_back(access);
    }
    at = range.end;
  }
  return wrong;
}

void HappensBefore::forget(const void* data, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  cut(begin);
  cut(begin + bytes);
  ranges_.erase(ranges_.lower_bound(begin), ranges_.lower_bound(begin + bytes));
}

void HappensBefore::forget_all() {
  const std::lock_guard lock(mutex_);
  streams_.clear();
  hosts_.clear();
  ranges_.clear();
}

HappensBefore& happens_before() {
  static auto* const known = new HappensBefore;  // streams may outlive static objects
  return *known;
}

}  // namespace standin
