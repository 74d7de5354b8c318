#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/schedule/schedule.h"
#include "runtime/executor/host_values.h"
#include "runtime/executor/rank_executor.h"

namespace stagewright {

/// Holds what several ranks have alike - weights of data-parallel replicas, of tied layers, of
/// copies of a stage - against each other between steps.  Updates are made from sums that are the
/// same bits on all members, so that a single bit of difference is a fault: of memory, of a device,
/// of a collective.
class ReplicaCheck {
 public:
  /// `schedule` and `executor` outlive it; `executor` is of the rank of that number.
  ReplicaCheck(const Schedule& schedule, const RankExecutor& executor);

  /// The first parameter, by rank and table, in which two ranks differ, with its norms on both. All
  /// ranks find the same and call it together.
  [[nodiscard]] std::optional<Error> differing(RankExecutor& executor, HostValues& values) const;

 private:
  /// A parameter's part on a rank.
  struct Part {
    TensorId weight;
    std::int64_t first = 0;  ///< element of the tensor
    std::int64_t count = 0;
  };

  const Schedule& schedule_;
  std::vector<Part> parts_;                       ///< of this rank, by its table
  std::vector<std::vector<std::uint64_t>> keys_;  ///< by rank and table: equal for equal parts
  std::size_t longest_ = 0;                       ///< table of all ranks
};

}  // namespace stagewright
