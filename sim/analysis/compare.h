#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/schedule/action.h"
#include "core/schedule/tensor.h"
#include "core/trace/trace.h"
#include "sim/analysis/bubble_causes.h"
#include "sim/analysis/step_attribution.h"

namespace stagewright {

/// A predicted time beside a measured one.
struct TimePair {
  Duration predicted{};
  Duration measured{};
  /// predicted / measured - 1; absent where nothing was measured.
  [[nodiscard]] std::optional<double> error() const;
  friend bool operator==(const TimePair&, const TimePair&) = default;
};

struct CompareOptions {
  std::size_t worst = 10;             ///< actions to list
  bool ignore_schedule_hash = false;  ///< compare although the traces come from unlike schedules
};

/// All events of one kind over all ranks.
struct KindComparison {
  std::string kind;                ///< name of the action or operation kind
  std::int64_t count = 0;          ///< matched events a step
  TimePair total;                  ///< their summed durations in a step
  double mean_absolute_error = 0;  ///< mean over events of |predicted / measured - 1|
  friend bool operator==(const KindComparison&, const KindComparison&) = default;
};

struct RankComparison {
  RankId rank;
  TimePair busy;  ///< compute actions
  double predicted_bubble = 0;
  double measured_bubble = 0;
  TimePair end;              ///< when its last action ended, from the start of the step
  Bytes predicted_memory{};  ///< high-water mark of all classes together
  Bytes measured_memory{};
  friend bool operator==(const RankComparison&, const RankComparison&) = default;
};

struct ActionComparison {
  RankId rank;
  std::int32_t action_index = 0;
  ActionKind kind = ActionKind::kForward;
  StageId stage;
  MicroBatchId micro_batch;
  TimePair start;  ///< from the start of the step
  TimePair duration;
  /// predicted - measured of when it ended: its own error, and what it inherited from those that
  /// it waited for.
  [[nodiscard]] Duration own_error() const { return duration.predicted - duration.measured; }
  [[nodiscard]] Duration inherited_error() const { return start.predicted - start.measured; }
  friend bool operator==(const ActionComparison&, const ActionComparison&) = default;
};

struct MemoryComparison {
  TensorClass tensor_class = TensorClass::kActivation;
  Bytes predicted{};  ///< high-water mark of the class, largest over the ranks
  Bytes measured{};
  friend bool operator==(const MemoryComparison&, const MemoryComparison&) = default;
};

/// Idle time of all ranks for one cause, as a share of their time (bubble_causes.h).
struct CauseComparison {
  BubbleCause cause = BubbleCause::kWarmUp;
  double predicted = 0;
  double measured = 0;
  friend bool operator==(const CauseComparison&, const CauseComparison&) = default;
};

/// A prediction beside what happened.  Measured times are medians over the steps after the first
/// (which pays for warming up), or the first where there is no other.
struct Comparison {
  TimePair step;
  double step_error = 0;     ///< predicted / measured - 1
  double repeat_spread = 0;  ///< half the distance of the quartiles of the measured step time,
                             ///< over its median
  std::int32_t measured_steps = 0;  ///< that the medians are over
  double worst_error = 0;  ///< largest |error| of a kind of action that takes at least 5 % of the
                           ///< measured busy time
  std::vector<KindComparison> actions;     ///< largest measured total first
  std::vector<KindComparison> operations;  ///< the same; empty without operation events
  std::vector<RankComparison> ranks;       ///< ascending
  std::vector<CauseComparison> causes;     ///< that occur, each over the ranks of its trace
  std::vector<ActionComparison> worst;     ///< largest absolute difference first
  std::vector<MemoryComparison> memory;    ///< classes that occur
  /// measured - predicted step time by kind of work, from a step of median length.
  std::vector<StepEffect> effects;
  std::string predicted_clock;  ///< Trace::clock
  std::string measured_clock;
  std::int64_t only_predicted = 0;  ///< events of the one that the other does not have
  std::int64_t only_measured = 0;
  friend bool operator==(const Comparison&, const Comparison&) = default;
};

/// Matches events by rank, action and operation.  Fails with kInvalidInput when the traces come
/// from unlike schedules (unless told to ignore that), the first is measured or the second
/// predicted, or nothing matches.
[[nodiscard]] Result<Comparison> compare(const Trace& predicted,
                                         const Trace& measured,
                                         const CompareOptions& options = {});

/// The comparison as JSON text: times in seconds, errors as fractions, sizes in bytes.
[[nodiscard]] std::string to_json_text(const Comparison& comparison);

}  // namespace stagewright
