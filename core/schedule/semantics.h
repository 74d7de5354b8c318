#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/schedule/schedule.h"

namespace stagewright {

/// What a list of actions means, for validator, simulator and executor alike.
///
///  1. Each rank issues its actions in list order, and the operations of an action in list order.
///  2. An operation runs on its stream; operations of one stream run in issue order.
///  3. An operation starts when its stream is free, the last writers of its inputs are done, and
///     the last users of what it overwrites are done: of its tensors, and of those that had their
///     memory before (lifetimes.h).  So does a transfer for the tensors at both ends.
///  4. A send moves its border tensor on the stream of its channel (peer, kind).  The next send on
///     the same channel is issued only when the previous one is complete; issue stops until then,
///     so a rank has at most one unfinished send per channel.
///  5. A receive is posted when it is issued; its tensor is written when the transfer ends.  A
///     transfer starts when both sides have issued it, and messages of one channel go in order.
///  6. A collective starts when all members have issued it and all are able to start it.
///  7. Backward needs the forward of the same (stage, micro-batch), BackwardWeight its
///     BackwardInput; a forward needs its input from the stage before, a backward its gradient from
///     the stage after; an optimizer step, or an update in the middle of a list, needs the reduction
///     of the gradients made before it.

/// The action on the other rank that an action pairs with, or why there is none.
struct Match {
  RankId rank;
  std::int32_t action = 0;
  friend bool operator==(const Match&, const Match&) = default;
};

/// For every rank and action, the partner of sends and receives (absent for other actions).
/// Fails when a message has no partner, or two, or when messages of one channel are received in
/// another order than they are sent, or with another size; names rank, action and peer.
/// REQUIRES: the schedule's indices lie in their tables (indices.h).
[[nodiscard]] Result<std::vector<std::vector<std::optional<Match>>>> match_messages(
    const Schedule& schedule);

/// For a send: index of the next send on the same channel in this list (rule 4).
[[nodiscard]] std::vector<std::optional<std::int32_t>> next_send_on_channel(
    const std::vector<Action>& actions);

/// Checks a schedule as a whole, naming rank, action and what is missing:
///  - indices lie in their tables, groups contain the ranks that use them;
///  - every stage runs every micro-batch exactly once (forward, and backward whole or in two
///    halves, unless the whole schedule only goes forward);
///  - rule 7 can be met: what an action needs was issued before it, here or on its peer; nothing
///    reads a micro-batch tensor that nothing wrote;
///  - where weights change in the middle of a list, a backward finds those of its forward;
///  - messages match (match_messages) and have equal sizes on both sides;
///  - all members of a group issue its collectives in one order with equal sizes, for the same
///    micro-batches;
///  - nothing deadlocks under the rules above; the error names the waiting actions in a cycle.
/// Equal programs are checked once, and ranks that provably behave alike together, so that the work
/// grows with the distinct lists; only tables of slots and members grow with the ranks.
[[nodiscard]] Result<void> validate(const Schedule& schedule);

}  // namespace stagewright
