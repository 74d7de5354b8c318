#pragma once

/// What decides a step's time, tied to the actions of an ActionStore.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/trace/trace.h"
#include "gui/models/action_store.h"
#include "sim/analysis/bubble_causes.h"
#include "sim/analysis/critical_path.h"
#include "sim/analysis/step_work.h"

namespace stagewright::gui {

/// An idle stretch of a compute lane.
struct Gap {
  std::int64_t start = 0;
  std::int64_t end = 0;
  BubbleCause cause = BubbleCause::kOrder;
  friend bool operator==(const Gap&, const Gap&) = default;
};

struct StepAnalysis {
  CriticalPath path;
  BubbleCauses bubbles;
  std::vector<ActionIndex> on_path;      ///< actions of the path, in its order
  std::vector<std::uint8_t> is_on_path;  ///< by action
  std::vector<std::int64_t> slack;       ///< by action, picoseconds; 0 where it is not known
  std::vector<std::vector<Gap>> gaps;    ///< by lane; of first compute lanes
  /// By action: where its edges begin, and the end.
  std::vector<std::uint32_t> before_begin;
  std::vector<ActionIndex> before;  ///< what an action waited for, the one that decided first
  std::vector<std::uint32_t> after_begin;
  std::vector<ActionIndex> after;  ///< what waited for it, by start

  [[nodiscard]] std::span<const ActionIndex> before_of(ActionIndex action) const;
  [[nodiscard]] std::span<const ActionIndex> after_of(ActionIndex action) const;
};

/// Works out the step that `store` shows.  A gap's cause is that of what the action behind it
/// waited for: a message, a collective, the optimizer; else filling before the rank's first
/// backward, draining after its last forward, the order between.  (How much of all idle time goes
/// to which cause over the whole step is bubble_causes' answer, which times the step again for
/// each.)
[[nodiscard]] StepAnalysis analyse_step(const Trace& trace,
                                        std::int32_t step,
                                        const ActionStore& store);

/// The decisive predecessors of an action, nearest first, until one that waited for nothing.
[[nodiscard]] std::vector<ActionIndex> chain_to_root(const StepAnalysis& analysis,
                                                     ActionIndex action);

}  // namespace stagewright::gui
