#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/schedule/pipeline_order.h"
#include "core/schedule/token_list.h"
#include "sim/analysis/list_timing.h"
#include "sim/engine/pipeline_graph.h"

namespace stagewright {

/// Activations that a rank holds at most, counted in micro-batches of a stage.
struct ActivationPeaks {
  std::vector<std::int32_t> to_backward;  ///< [rank] kept from F until B or I
  std::vector<std::int32_t> to_weight;    ///< [rank] kept from F until B or W
  friend bool operator==(const ActivationPeaks&, const ActivationPeaks&) = default;
};
[[nodiscard]] ActivationPeaks activation_peaks(const TokenList& list);
[[nodiscard]] ActivationPeaks activation_peaks(const PipelineOrder& order);

/// The same costs for every stage.
struct UniformCosts {
  Duration forward{};
  Duration backward{};
  Duration backward_input{};
  Duration backward_weight{};
  Duration recompute{};
  Duration transfer{};
  double overlap = 1;
};
[[nodiscard]] PipelineCosts costs_per_stage(const UniformCosts& costs, std::int32_t stages);

/// All that can be said of a list under given costs.
struct OrderCheck {
  /// Coverage, or a cycle that no transfer takes part in; then nothing below is filled.
  std::optional<ListFault> fault;
  ListTiming timing;
  ActivationPeaks peaks;
  /// One per queue model where the list has transfers: a makespan or a fault.
  std::vector<std::pair<QueueModel, ListTiming>> queues;

  /// Whether the list gets to its end: nothing is wrong with its structure, and if it has
  /// transfers, there is a queue model under which they get through.
  [[nodiscard]] bool runs() const;
};
[[nodiscard]] OrderCheck check_order(const TokenList& list, const PipelineCosts& costs);

/// The same of an order that covers its stages and micro-batches, as those of generators do, by the
/// static pass: without the times of single actions (ListTiming::items), for 8 bytes an action
/// besides order and graph.  REQUIRES: `graph` is compile(order); a cost for every stage and kind.
[[nodiscard]] OrderCheck check_order(const PipelineOrder& order,
                                     const PipelineGraph& graph,
                                     const PipelineCosts& costs);

}  // namespace stagewright
