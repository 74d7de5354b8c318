#include "runtime/trainer/rank_clocks.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace stagewright {

namespace {

constexpr std::size_t kMeetings = 9;

/// Moves a time by the offset that its own clock had then.
class Shift {
 public:
  Shift(const ClockOffset& begin, const ClockOffset& end) : begin_(begin), end_(end) {}

  void operator()(TimePoint& time) const {
    const auto length = static_cast<double>((end_.at - begin_.at).count());
    const double part = length > 0 ? static_cast<double>((time - begin_.at).count()) / length : 0.0;
    const auto drift = static_cast<double>((end_.ahead - begin_.ahead).count());
    time = time - begin_.ahead - Duration(static_cast<std::int64_t>(drift * part));
  }

 private:
  ClockOffset begin_;
  ClockOffset end_;
};

}  // namespace

ClockOffset measure_clock(HostValues& values, const Endpoint& endpoint) {
  std::array<std::int64_t, kMeetings> read{};
  for (std::int64_t& time : read) {
    static_cast<void>(values.maximum(0));
    time = (endpoint.clock().now() - TimePoint{}).count();
  }
  const std::vector<std::byte> all = values.gather(std::as_bytes(std::span(read)));
  std::array<std::int64_t, kMeetings> first{};
  std::memcpy(first.data(), all.data(), sizeof(first));
  std::array<std::int64_t, kMeetings> ahead{};
  for (std::size_t i = 0; i < kMeetings; ++i) {
    ahead[i] = read[i] - first[i];
  }
  std::ranges::nth_element(ahead, ahead.begin() + kMeetings / 2);
  return {.at = TimePoint(Duration(read.back())), .ahead = Duration(ahead[kMeetings / 2])};
}

void onto_first_clock(std::vector<StepRecord>& steps,
                      const ClockOffset& begin,
                      const ClockOffset& end) {
  const Shift shift(begin, end);
  for (StepRecord& step : steps) {
    shift(step.begin);
    shift(step.end);
    for (InstructionTimes& times : step.times) {
      shift(times.posted);
      shift(times.ready);
      shift(times.start);
      shift(times.end);
    }
    for (StepRecord::MemoryChange& change : step.memory) {
      shift(change.at);
    }
  }
}

}  // namespace stagewright
