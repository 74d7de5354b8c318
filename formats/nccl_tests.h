#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/model/op.h"

namespace stagewright {

/// One line of an nccl-tests run: a message size and the time of one operation on it.
struct CollectivePoint {
  Bytes size{};  ///< as nccl-tests counts it: of the whole message
  Duration time{};
  friend bool operator==(const CollectivePoint&, const CollectivePoint&) = default;
};

/// Output of `all_reduce_perf` and its siblings (github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md).
struct CollectiveLog {
  OpKind kind = OpKind::kAllReduce;
  std::vector<CollectivePoint> points;  ///< out of place, by growing size; empty sizes left out
  friend bool operator==(const CollectiveLog&, const CollectiveLog&) = default;
};

/// The collective is the one that the log names ("all_reduce_perf", "# Collective test starting:
/// all_gather_perf"), or else `kind`.  Lines that are no measurement are passed over, and the task
/// number that `srun --label` puts before a line.  Fails when no line is a measurement, or when a
/// time is not positive.
[[nodiscard]] Result<CollectiveLog> parse_nccl_tests(std::string_view text,
                                                     std::string_view where,
                                                     OpKind kind = OpKind::kAllReduce);

}  // namespace stagewright
