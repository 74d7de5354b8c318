#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/schedule/lifetimes.h"
#include "runtime/executor/host_values.h"
#include "runtime/executor/rank_executor.h"
#include "runtime/executor/step_record.h"

namespace stagewright {

/// What a rank leaves of a run.
struct RankResult {
  std::vector<StepRecord> steps;  ///< all that ran; those not traced without times and memory
  std::vector<StepTotals> totals;
  MemoryPeaks memory;
  std::vector<std::vector<std::int32_t>> lane_logs;  ///< as RankExecutor::lane_logs
};

/// For a process of the same program.
[[nodiscard]] std::vector<std::byte> to_bytes(const RankResult& result);
/// Throws BackendError where the bytes are none of to_bytes().
[[nodiscard]] RankResult rank_result(std::span<const std::byte> bytes);

/// The results of all ranks, in their order, for every rank.  All ranks call it; throws
/// BackendError.
[[nodiscard]] std::vector<RankResult> gather_results(HostValues& values, const RankResult& own);

}  // namespace stagewright
