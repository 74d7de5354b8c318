#pragma once

/// What every communicator must do, whatever moves the bytes.  A backend conforms when it
/// passes: link the *_conformance.cpp files and instantiate the suite, as
/// in_process_conformance_test.cpp does.
///
/// Each test is a body run by every rank, which knows the expected result from its rank
/// alone, so that the suite works for ranks in threads and in processes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/comm/world.h"

namespace stagewright {

struct ConformanceBackend {
  std::string name;
  std::function<Result<std::unique_ptr<World>>(const WorldSpec& spec, Duration timeout)> make_world;
};

inline void PrintTo(const ConformanceBackend& backend, std::ostream* out) {
  *out << backend.name;
}

using RankBody = std::function<void(Endpoint& endpoint)>;

class CommunicatorConformance : public testing::TestWithParam<ConformanceBackend> {
 protected:
  /// Runs the body on every rank that lives here; none may fail.
  static void run(const WorldSpec& spec, const RankBody& body);

  /// The same, with the message that each rank ended with ("" if it did not throw).
  [[nodiscard]] static std::vector<std::string> run_to_failure(const WorldSpec& spec,
                                                               Duration timeout,
                                                               const RankBody& body);
};

/// `ranks` ranks, one group "all" of them in order, all links on `channels` channels.
[[nodiscard]] WorldSpec one_group(int ranks, int channels = 1);

/// The worlds and lengths that everything is tried with: lengths of nothing, one element, less
/// and more than one piece of any backend's pipeline, odd and even.
inline constexpr int kRankCounts[] = {1, 2, 3, 4, 8};
inline constexpr std::size_t kLengths[] = {0, 1, 7, 1024, 65537};

/// Values of all magnitudes, so that another order of summation gives other bits.
[[nodiscard]] std::vector<float> floats_of(int rank, std::size_t count, std::uint32_t seed = 1);
[[nodiscard]] std::vector<std::int32_t> ints_of(int rank, std::size_t count);
[[nodiscard]] std::vector<std::byte> bytes_of(int rank, std::size_t count);

/// Sum over ranks 0 .. ranks - 1 of floats_of(rank), in that order.
[[nodiscard]] std::vector<float> rank_ordered_sum(int ranks, std::size_t count);

/// Busy for up to 20 us: disturbs the order of the ranks without ever deciding it.
void random_delay(std::mt19937& random);

}  // namespace stagewright
