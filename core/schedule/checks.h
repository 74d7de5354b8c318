#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/schedule/schedule.h"

namespace stagewright {

// The parts of validate(), each in a file of its own.  All REQUIRE what check_indices proves, and
// do the work of equal programs once.

/// Every stage of every replica runs every micro-batch exactly once: forward, and backward whole or
/// in two halves unless the whole schedule only goes forward.
[[nodiscard]] Result<void> check_coverage(const Schedule& schedule);

/// What an action needs stands before it in its rank's list (rule 7): inputs received or made here,
/// halves in order, gradients reduced before the step that uses them; and no operation reads a
/// micro-batch tensor that nothing wrote.
[[nodiscard]] Result<void> check_order(const Schedule& schedule);

/// Where weights change in the middle of a list, a backward finds those of its forward.
[[nodiscard]] Result<void> check_weights(const Schedule& schedule);

/// Every message has its partner, in order on its channel, of equal size.
[[nodiscard]] Result<void> check_messages(const Schedule& schedule);

/// All members of a group issue its collectives in one order with equal sizes, those inside stage
/// programs for the same stage and micro-batch.
[[nodiscard]] Result<void> check_collectives(const Schedule& schedule);

/// Nothing waits for ever under rules 1 to 6.  REQUIRES: check_messages and check_collectives.
[[nodiscard]] Result<void> check_progress(const Schedule& schedule);

/// "rank 3 action 17 (1F2)".
[[nodiscard]] std::string action_name(const Schedule& schedule, RankId rank, std::int32_t action);

/// A cycle of such actions that wait for each other, each for the one behind it; one that comes
/// several times in a row is named once.
[[nodiscard]] std::string action_cycle_text(const Schedule& schedule,
                                            std::vector<std::pair<RankId, std::int32_t>> cycle);

/// The lowest rank of each program.
[[nodiscard]] std::vector<RankId> first_ranks(const Schedule& schedule);

}  // namespace stagewright
