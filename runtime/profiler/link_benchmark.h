#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/profile/profile.h"
#include "runtime/comm/world.h"
#include "runtime/compute/compute_device.h"

namespace stagewright {

struct LinkBenchmarkOptions {
  std::vector<std::int32_t> ranks = {2};  ///< group sizes, each at least 2
  std::vector<Bytes> sizes;               ///< of the messages; rounded up to whole elements a rank
  std::int32_t warm_up = 5;
  std::int32_t repeats = 30;
  const std::atomic<bool>* stop = nullptr;  ///< ends the measurement early with an error
  /// As in RunOptions: what the ranks communicate through, and the device whose memory it moves.
  std::function<Result<std::unique_ptr<World>>(const WorldSpec&)> make_world;
  std::function<std::unique_ptr<ComputeDevice>(RankId)> make_device;
};

/// Times "send", "all-reduce", "all-gather", "reduce-scatter" and "broadcast" between rank threads
/// of this process: from the moment when the last rank is ready until the last one can go on.  All
/// ranks do nothing else meanwhile; sends run between pairs of ranks at once (and stand under 2
/// ranks).  Message bytes count as in the simulator: the whole vector, of which a rank of an
/// all-gather or reduce-scatter holds one part.  Ascending by operation, ranks, bytes.
[[nodiscard]] Result<std::vector<MeasuredLink>> measure_links(const LinkBenchmarkOptions& options);

}  // namespace stagewright
