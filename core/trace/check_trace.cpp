#include "core/trace/check_trace.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace stagewright {
namespace {

bool below(std::int32_t index, std::int32_t size) {
  return index >= 0 && index < size;
}

std::optional<std::string> complaint_about(const TraceEvent& event, const Trace& trace) {
  if (!below(event.rank.value(), trace.ranks)) {
    return fmt::format("rank {} does not exist; there are {}", event.rank.value(), trace.ranks);
  }
  if (!below(event.step, trace.steps)) {
    return fmt::format("step {} does not exist; there are {}", event.step, trace.steps);
  }
  if (event.stream.value() < 0 || event.stream.index() >= trace.streams.size()) {
    return fmt::format(
        "stream {} does not exist; there are {}", event.stream.value(), trace.streams.size());
  }
  if (event.op_index.has_value() != event.op.has_value()) {
    return "an operation needs both its index and its kind";
  }
  if (event.action_index < 0 || event.op_index.value_or(0) < 0 || event.stage.value() < 0 ||
      event.micro_batch.value() < 0) {
    return "an index is negative";
  }
  if (auto complaint = complaint_about_times(event)) {
    return complaint;
  }
  if (event.bytes < Bytes{} || !(event.flops >= Flops{}) || !std::isfinite(event.flops.count())) {
    return "bytes and flops must be finite numbers of 0 or more";
  }
  return std::nullopt;
}

std::optional<std::string> complaint_about(const MemorySample& sample, const Trace& trace) {
  if (!below(sample.rank.value(), trace.ranks) || !below(sample.step, trace.steps)) {
    return fmt::format("rank {} or step {} does not exist", sample.rank.value(), sample.step);
  }
  if (!fits_clock(sample.at)) {
    return "its time is beyond what the clock counts";
  }
  if (std::ranges::min(sample.live) < Bytes{}) {
    return "live bytes are negative";
  }
  return std::nullopt;
}

template <class Item>
Result<void> check_all(const std::vector<Item>& items,
                       const Trace& trace,
                       std::string_view name,
                       std::string_view where) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (auto complaint = complaint_about(items[i], trace)) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("{} {}: {}", name, i, *complaint),
                  std::string(where));
    }
  }
  return {};
}

}  // namespace

bool fits_clock(TimePoint time) {
  constexpr std::int64_t kHalf = std::int64_t{1} << 62;
  const std::int64_t ps = time.time_since_epoch().count();
  return ps > -kHalf && ps < kHalf;
}

std::optional<std::string> complaint_about_times(const TraceEvent& event) {
  if (!fits_clock(event.posted) || !fits_clock(event.end)) {
    return "its times are beyond what the clock counts";
  }
  if (event.posted > event.ready || event.ready > event.start || event.start > event.end) {
    return "its times must be in order: posted, ready, start, end";
  }
  return std::nullopt;
}

Result<void> check_step_times(const Trace& trace, std::string_view where) {
  Duration sum{};
  for (const Duration time : trace.step_times) {
    if (time < Duration{} || !fits_clock(TimePoint(time)) || !fits_clock(TimePoint(sum += time))) {
      return fail(ErrorCode::kInvalidInput,
                  "step times must be 0 or more, and their sum must fit the clock",
                  std::string(where));
    }
  }
  return {};
}

Result<void> check_trace(const Trace& trace, std::string_view where) {
  if (trace.ranks < 1 || trace.steps < 0 || trace.tokens_per_step < 0) {
    return fail(ErrorCode::kInvalidInput,
                "ranks must be 1 or more, steps and tokens 0 or more",
                std::string(where));
  }
  if (auto checked = check_step_times(trace, where); !checked) {
    return checked;
  }
  if (auto checked = check_all(trace.events, trace, "event", where); !checked) {
    return checked;
  }
  return check_all(trace.memory, trace, "memory sample", where);
}

}  // namespace stagewright
