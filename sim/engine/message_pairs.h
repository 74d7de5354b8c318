#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/schedule/rank_classes.h"
#include "core/schedule/schedule.h"

namespace stagewright {

/// The receive that takes a message.
struct PairedReceive {
  std::uint32_t rank_class = 0;
  std::int32_t action = 0;  ///< in the program of that class
  friend bool operator==(const PairedReceive&, const PairedReceive&) = default;
};

/// For every class and action of its program, who takes what it sends (absent unless a send).  The
/// k-th send over a channel belongs to the k-th receive.
/// Fails with kInvalidInput, naming rank and action, when counts or contents differ.
[[nodiscard]] Result<std::vector<std::vector<std::optional<PairedReceive>>>> pair_messages(
    const Schedule& schedule, const RankClasses& classes);

}  // namespace stagewright
