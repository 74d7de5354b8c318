#pragma once

#include <cstdint>

#include "core/base/result.h"
#include "core/cluster/device.h"
#include "formats/nccl_tests.h"

namespace stagewright {

/// A link level that explains a measured collective.
struct LinkFit {
  LinkSpec link;
  double median_error = 0;  ///< |predicted / measured - 1| over the log's sizes
  friend bool operator==(const LinkFit&, const LinkFit&) = default;
};

/// Fits reachable share, latency and (inside a node) ramp of `link`, whose bandwidth is the data
/// sheet's, to a log taken on `nodes` x `per_node` devices: inside one node, or between nodes with
/// the inside taken as never the bottleneck.  Least squares on the logarithm over a grid refined
/// twice; deterministic.  REQUIRES: two members or more.
[[nodiscard]] LinkFit fit_link(const CollectiveLog& log,
                               const LinkSpec& link,
                               std::int32_t nodes,
                               std::int32_t per_node);

}  // namespace stagewright
