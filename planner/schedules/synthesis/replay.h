#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/schedules/synthesis/step_table.h"

namespace stagewright::synthesis {

/// Virtual times of forwards and backwards: a rank takes them up in this order.  Along each
/// micro-batch's way they ascend, which keeps ranks from waiting for each other in a circle.
struct VirtualTimes {
  std::vector<double> forward;   ///< [stage * M + micro-batch]
  std::vector<double> backward;  ///< [stage * M + micro-batch]
};

/// Which form backwards have.
enum class Backwards : std::uint8_t {
  kCheaper,  ///< by stage, halves where both cost the same
  kSplit,    ///< all in halves
  kWhole,    ///< none: holds the least
};

/// How a rank uses the time until its next step can start.
struct ReplayRule {
  /// A weight half runs if this share of it fits; what it takes longer delays the next step.
  double weight_share = 1;
  /// How many of the steps behind the next one may overtake it when they are ready.
  std::int32_t window = 4;
  /// Whether those that overtake have to fit into the wait.
  bool must_fit = true;
  Backwards backwards = Backwards::kCheaper;
};

/// Runs the steps with their real costs: each rank the next by virtual time, weight halves in its
/// waits, or when the memory cap blocks a forward.  Nothing where the ranks get stuck below their
/// caps.
[[nodiscard]] std::optional<StepLists> replay(const StepTable& table,
                                              const VirtualTimes& times,
                                              const ReplayRule& rule);

}  // namespace stagewright::synthesis
