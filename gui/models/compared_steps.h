#pragma once

/// Two steps on one timeline: predicted beside measured, or one plan beside another.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/units.h"
#include "gui/models/action_store.h"

namespace stagewright::gui {

/// Where the second step is laid beside the first.
enum class Alignment : std::uint8_t {
  kStart,  ///< both begin at zero
  kEnd,    ///< both end together
};

/// An action of both steps.  Its start is off by `inherited`, through what it waited for; what it
/// adds by itself is `own`.
struct ActionMatch {
  ActionIndex first = 0;   ///< into ComparedSteps::actions; its first part
  ActionIndex second = 0;  ///< the same
  Duration first_time{};   ///< of all its parts (goes_on)
  Duration own{};          ///< what the second takes less that
  Duration inherited{};    ///< second's start less first's
  friend bool operator==(const ActionMatch&, const ActionMatch&) = default;
};

/// Actions of one kind in both steps.
struct KindMatch {
  ActionKind kind = ActionKind::kForward;
  std::int64_t count = 0;
  Duration first{};       ///< summed
  Duration second{};      ///< summed
  double mean_error = 0;  ///< mean of |second / first - 1|
  friend bool operator==(const KindMatch&, const KindMatch&) = default;
};

struct ComparedSteps {
  /// Per rank a lane of the first step, one of the second, and a strip with the error of each of
  /// its actions where that one stands.
  ActionStore actions;
  std::vector<ActionMatch> matches;  ///< computing ones, by largest |own| first
  std::vector<KindMatch> kinds;      ///< largest second total first; messages and collectives, too
  Duration first_length{};
  Duration second_length{};
  std::int64_t only_first = 0;  ///< computing actions without a counterpart
  std::int64_t only_second = 0;
};

/// Matches computing actions by rank, kind, stage and micro-batch, never by time.
[[nodiscard]] ComparedSteps compare_steps(const ActionStore& first,
                                          const ActionStore& second,
                                          Alignment alignment = Alignment::kStart);

}  // namespace stagewright::gui
