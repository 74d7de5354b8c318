#include "core/profile/profile.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

namespace stagewright {

const MeasuredOperation* Profile::operation(std::string_view key) const {
  const auto found = std::ranges::lower_bound(operations, key, {}, &MeasuredOperation::key);
  return found != operations.end() && found->key == key ? &*found : nullptr;
}

const MeasuredSegment* Profile::segment(std::string_view key) const {
  const auto found = std::ranges::lower_bound(segments, key, {}, &MeasuredSegment::key);
  return found != segments.end() && found->key == key ? &*found : nullptr;
}

namespace {
/// On the line through two measured points; never below zero.
Duration on_line(const MeasuredLink& a, const MeasuredLink& b, Bytes bytes) {
  const double share = (bytes - a.bytes) / (b.bytes - a.bytes);
  const double span = static_cast<double>((b.time.median - a.time.median).count());
  const double from_a = std::max(-static_cast<double>(a.time.median.count()), share * span);
  return a.time.median + Duration(std::llround(from_a));
}

/// Beyond the largest message: the last two points continued, which keeps the latency of small
/// messages out of the rate.  A single point scales with size.
Duration beyond(std::span<const MeasuredLink> points, Bytes bytes) {
  const MeasuredLink& last = points.back();
  if (points.size() >= 2) {
    const MeasuredLink& previous = points[points.size() - 2];
    if (last.time.median > previous.time.median) {
      return on_line(previous, last, bytes);
    }
  }
  if (last.bytes == Bytes{}) {
    return last.time.median;
  }
  return Duration(
      std::llround(static_cast<double>(last.time.median.count()) * (bytes / last.bytes)));
}
}  // namespace

std::optional<Profile::LinkTime> Profile::link(std::string_view operation,
                                               std::int32_t ranks,
                                               Bytes bytes,
                                               bool in_layers) const {
  const std::tuple wanted(operation, in_layers, ranks);
  const auto kind = [](const MeasuredLink& link) {
    return std::tuple(std::string_view(link.operation), link.in_layers, link.ranks);
  };
  const auto before = [&](const MeasuredLink& link) { return kind(link) < wanted; };
  const auto same = [&](const MeasuredLink& link) { return kind(link) == wanted; };
  const auto begin = std::partition_point(links.begin(), links.end(), before);
  const auto end = std::partition_point(begin, links.end(), same);
  if (begin == end) {
    return in_layers ? link(operation, ranks, bytes) : std::nullopt;
  }
  const auto above = std::partition_point(
      begin, end, [bytes](const MeasuredLink& link) { return link.bytes < bytes; });
  if (above == end) {
    return LinkTime{beyond({begin, end}, bytes), true};
  }
  if (above->bytes == bytes) {
    return LinkTime{above->time.median, false};
  }
  if (above == begin) {  // below the smallest: latency dominates, so its time is the best guess
    return LinkTime{above->time.median, true};
  }
  return LinkTime{on_line(*(above - 1), *above, bytes), false};
}

bool in_order(const MeasuredLink& before, const MeasuredLink& behind) {
  const auto place = [](const MeasuredLink& link) {
    return std::tuple(std::string_view(link.operation), link.in_layers, link.ranks, link.bytes);
  };
  return place(before) < place(behind);
}

}  // namespace stagewright
