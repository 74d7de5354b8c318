#include "core/profile/duration_samples.h"

#include <algorithm>
#include <cstdint>

#include "core/base/check.h"

namespace stagewright {

namespace {

MeasuredTime of_sorted(const std::vector<Duration>& samples) {
  SW_CHECK(!samples.empty(), "at least one sample");
  // Linear between the two nearest ranks, in quarters.
  const auto quartile = [&samples](std::int64_t quarters) {
    const std::int64_t place = quarters * static_cast<std::int64_t>(samples.size() - 1);
    const auto below = static_cast<std::size_t>(place / 4);
    const Duration step = samples[std::min(below + 1, samples.size() - 1)] - samples[below];
    return samples[below] + step * (place % 4) / 4;
  };
  return {quartile(2), (quartile(3) - quartile(1)) / 2, static_cast<std::int32_t>(samples.size())};
}

}  // namespace

MeasuredTime summarize(std::vector<Duration> samples) {
  std::ranges::sort(samples);
  return of_sorted(samples);
}

MeasuredTime summarize_mean(std::vector<Duration> samples) {
  std::ranges::sort(samples);
  MeasuredTime time = of_sorted(samples);
  const std::size_t counted = std::max<std::size_t>(1, samples.size() * 98 / 100);
  Duration sum{};
  for (std::size_t i = 0; i < counted; ++i) {
    sum += samples[i];
  }
  time.median = sum / static_cast<std::int64_t>(counted);
  return time;
}

}  // namespace stagewright
