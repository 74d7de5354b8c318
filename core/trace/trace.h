#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "core/model/op.h"
#include "core/schedule/action.h"
#include "core/schedule/operation.h"
#include "core/schedule/tensor.h"

namespace stagewright {

/// One action, or one operation of it, as it was predicted or measured.  Times count from the start
/// of the optimizer step.  posted <= ready <= start <= end: issued by the rank; everything it
/// depends on is there; its stream took it up; done.  For transfers and collectives start is
/// the moment when the last side arrived, so that end - start is the transfer and start - posted
/// the wait.
struct TraceEvent {
  RankId rank;
  StreamId stream;
  std::int32_t step = 0;
  std::int32_t action_index = 0;         ///< in the rank's list
  std::optional<std::int32_t> op_index;  ///< in the action's operations; absent: the action itself
  ActionKind action = ActionKind::kForward;
  std::optional<OpKind> op;  ///< present with op_index
  StageId stage;
  MicroBatchId micro_batch;
  TimePoint posted;
  TimePoint ready;
  TimePoint start;
  TimePoint end;
  Bytes bytes{};
  Flops flops{};
  friend bool operator==(const TraceEvent&, const TraceEvent&) = default;
};

/// Live bytes of a rank from this moment on.
struct MemorySample {
  RankId rank;
  std::int32_t step = 0;
  TimePoint at;
  std::array<Bytes, kTensorClassCount> live{};
  friend bool operator==(const MemorySample&, const MemorySample&) = default;
};

/// A run of one or more optimizer steps, predicted or measured.
struct Trace {
  bool measured = false;
  std::string clock;  ///< "model", "wall", or "virtual" (thread CPU time replayed)
  std::string schedule_hash;
  std::string model;
  std::string plan_summary;
  std::int32_t ranks = 1;
  std::int32_t steps = 1;
  std::int64_t tokens_per_step = 0;
  std::vector<std::string> streams;
  std::vector<Duration> step_times;    ///< per step: first start to last end over all ranks
  std::vector<double> losses;          ///< per step (measured only), mean over tokens
  std::vector<double> gradient_norms;  ///< per step (measured only)
  std::map<std::string, std::string> made_by;
  std::vector<TraceEvent> events;  ///< by rank, then issue order
  std::vector<MemorySample> memory;
  friend bool operator==(const Trace&, const Trace&) = default;
};

/// Chrome / Perfetto JSON ("traceEvents"): a process per rank, a thread per stream, memory as
/// counters; timestamps in microseconds with a fraction.  Everything a Trace holds stands in "args"
/// and "stagewright", so that reading it back gives the same Trace to the picosecond.
[[nodiscard]] std::string to_chrome_json(const Trace& trace);
[[nodiscard]] Result<Trace> parse_chrome_json(std::string_view text, std::string_view where);

/// The compact binary form ("SWTR", version, little-endian columns), lossless.
[[nodiscard]] std::string to_binary(const Trace& trace);
[[nodiscard]] Result<Trace> parse_binary(std::string_view bytes, std::string_view where);

/// Either form, told apart by its first bytes.
[[nodiscard]] Result<Trace> parse_trace(std::string_view content, std::string_view where);

}  // namespace stagewright
