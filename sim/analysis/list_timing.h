#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/base/units.h"
#include "core/schedule/token_list.h"
#include "sim/analysis/list_fault.h"
#include "sim/analysis/transfer_queues.h"
#include "sim/engine/pipeline_timing.h"

namespace stagewright {

/// When an item of a list ran; for one that does not compute, when its rank passed it.
struct ItemTimes {
  std::array<Duration, 2> ready{};  ///< what each of its actions needs is there
  Duration posted{};                ///< its rank was done with what stands before it
  Duration start{};
  Duration end{};
  friend bool operator==(const ItemTimes&, const ItemTimes&) = default;
};

/// The times of a list, or why it has none.
struct ListTiming {
  std::optional<ListFault> fault;
  Duration makespan{};                        ///< from zero to the last end
  std::vector<Duration> busy;                 ///< per rank
  std::vector<Duration> spans;                ///< per rank, from its first start to its last end
  std::vector<std::vector<ItemTimes>> items;  ///< [rank][place in its list], where they were kept

  /// The bubble: the share of all ranks' time in which they compute nothing, the mean of
  /// idle_share().
  [[nodiscard]] double bubble() const;
  /// 1 - (the busiest rank's time) / makespan: what the longest rank loses, the least idle_share().
  [[nodiscard]] double bubble_rate() const;
  /// The same against the longest span, as where no flush makes ranks wait for each other.
  [[nodiscard]] double span_bubble_rate() const;
  [[nodiscard]] std::vector<double> idle_share() const;
};

/// Without a model, transfers are free of each other: a consumer on another rank starts one
/// transfer after the end of its producer, and the list's own sends and receives are passed over.
/// With one, the list's sends and receives carry the data, as rendezvous (all of one duration,
/// that of the first border).
/// REQUIRES: no fault of coverage; a cost for every stage and kind.
[[nodiscard]] ListTiming time_list(const TokenList& list,
                                   const PipelineCosts& costs,
                                   std::optional<QueueModel> model = std::nullopt);

}  // namespace stagewright
