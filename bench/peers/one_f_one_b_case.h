#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>

/// The step that both programs of scripts/simgrid_ratio.sh simulate: 1F1B on a line of ranks, every
/// action with a time of its own, every message through the outgoing port of its sender and the
/// incoming port of its receiver.
namespace one_f_one_b {

constexpr std::int64_t kTransfer = 50'000'000;  ///< picoseconds; a port passes one byte in each

/// Picoseconds; a mixed-up number between 80 and 120 us, twice that for a backward.
inline std::int64_t duration(std::int32_t rank, std::int32_t micro_batch, bool backward) {
  const auto key = static_cast<std::uint64_t>(rank) * 1'000'003U +
                   static_cast<std::uint64_t>(micro_batch) * 2U + (backward ? 1U : 0U);
  const std::uint64_t mixed = (key * 0x9E3779B97F4A7C15U) >> 40U;
  const std::int64_t forward = 80'000'000 + static_cast<std::int64_t>(mixed % 40'000'000U);
  return backward ? 2 * forward : forward;
}

/// Calls do_forward(micro_batch) and do_backward(micro_batch) in the rank's order: a warm-up of
/// ranks - 1 - rank forwards, one forward and one backward in turn, the rest of the backwards.
template <class Forward, class Backward>
void walk(std::int32_t ranks,
          std::int32_t micro_batches,
          std::int32_t rank,
          Forward do_forward,
          Backward do_backward) {
  const std::int32_t left = ranks - 1 - rank;
  const std::int32_t warm_up = left < micro_batches ? left : micro_batches;
  for (std::int32_t m = 0; m < warm_up; ++m) {
    do_forward(m);
  }
  for (std::int32_t m = warm_up; m < micro_batches; ++m) {
    do_forward(m);
    do_backward(m - warm_up);
  }
  for (std::int32_t m = micro_batches - warm_up; m < micro_batches; ++m) {
    do_backward(m);
  }
}

/// One line that the script reads.
inline void report(const char* program,
                   std::int32_t ranks,
                   std::int32_t micro_batches,
                   double makespan_seconds,
                   double wall_seconds) {
  const double actions = 2.0 * ranks * micro_batches;
  std::printf("%s ranks %d chunks %d makespan_s %.12f wall_s %.6f actions_per_s %.0f\n",
              program,
              ranks,
              micro_batches,
              makespan_seconds,
              wall_seconds,
              actions / wall_seconds);
}

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace one_f_one_b
