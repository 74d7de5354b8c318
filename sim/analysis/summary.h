#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/schedule/lifetimes.h"
#include "core/trace/trace.h"

namespace stagewright {

/// Label of transfers between stages among the kinds of communication.
inline constexpr const char* kPipelineTransfers = "pipeline";

/// One rank, or several that are alike in everything that decides their time.
struct RankSummary {
  RankId rank;             ///< the first of them
  std::int32_t alike = 1;  ///< how many
  Duration busy{};         ///< computing, or waiting for a running collective of the same action
  double bubble = 0;       ///< 1 - busy / step time
  /// Communication that ran while the rank's compute stream waited for it, by kind of group.
  std::map<std::string, Duration> exposed;
  MemoryPeaks memory;     ///< of its tensors
  Bytes device_memory{};  ///< memory.total and what driver and libraries take
  bool fits = true;       ///< in the device
  friend bool operator==(const RankSummary&, const RankSummary&) = default;
};

/// A step at a glance.
struct Summary {
  Duration step_time{};
  double tokens_per_second = 0;
  std::optional<double> mfu;  ///< model FLOPs / (step time * peak * devices), where known
  double bubble = 0;          ///< mean over ranks
  std::map<std::string, Duration> exposed;  ///< mean over ranks, by kind
  RankId critical_rank;                     ///< the busiest
  Bytes peak_memory{};                      ///< largest device_memory
  bool fits = true;                         ///< every rank
  double measured_share = 0;                ///< of the priced time, from a profile
  std::vector<RankSummary> ranks;           ///< ascending by first rank
  friend bool operator==(const Summary&, const Summary&) = default;
};

/// Share of a step in which a rank is not busy; zero for an empty step.
[[nodiscard]] double bubble_share(Duration busy, Duration step_time);

/// What a trace does not know, for its summary.
struct SummaryContext {
  std::optional<Flops> model_flops;    ///< of one step over all ranks (core/model: model_flops)
  std::optional<FlopsPerSecond> peak;  ///< sum over the devices
};

/// The same figures from a trace, measured or predicted: medians over the steps after the first
/// (the first alone where there is no other).  Exposed communication needs operation events and is
/// named by stream; memory comes from the samples, without what the driver takes.
[[nodiscard]] Summary summarize(const Trace& trace, const SummaryContext& context = {});

}  // namespace stagewright
