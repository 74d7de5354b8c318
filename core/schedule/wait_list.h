#pragma once

#include <cstdint>
#include <vector>

#include "core/schedule/rank_program.h"

namespace stagewright {

/// What can wait for something on another rank, or be waited for by it: a message, a collective, or
/// an operation that shares a communication stream with those.
struct WaitItem {
  enum class Kind : std::uint8_t {
    kLocal,
    kCollective,
    kSend,
    kReceive
  } kind = Kind::kLocal;
  std::int32_t action = 0;
  std::int32_t op = 0;        ///< of the action; 0 for messages
  std::int32_t queue = 0;     ///< items of one queue run in order
  std::int32_t in_queue = 0;  ///< position there
  std::int32_t slot = 0;      ///< peer slot or group slot
  std::int32_t ordinal = 0;   ///< of a collective: position among those of its slot
  /// Waits of the compute stream (WaitList::compute_waits) that come before this item can start.
  std::int32_t compute_waits = 0;
  std::vector<std::int32_t> after;  ///< earlier items that it needs done, by tensor
};

/// Which waits for memory a list has: whoever writes a tensor first waits for those that used its
/// memory for another tensor before.
enum class MemoryWaits : std::uint8_t {
  /// Every write by an item waits for all that the compute stream was given before it: more than
  /// the arena asks for, and no plan of it is needed.
  kCautious,
  kExact,  ///< by lifetimes and arena
};

/// A program reduced to its waits under rules 1 to 6 (semantics.h).  Compute operations never wait
/// for another rank by themselves and run in issue order, so all that counts of them is which items
/// the compute stream has to see done before it gets past a point.
struct WaitList {
  std::vector<WaitItem> items;              ///< in issue order
  std::vector<std::int32_t> compute_waits;  ///< items that the compute stream waits for, in order
  std::vector<std::vector<std::int32_t>> queues;       ///< items by queue
  std::vector<std::vector<std::int32_t>> collectives;  ///< items by group slot
  /// A cautious list covers the exact one, unless an item is the last to touch a tensor whose
  /// memory then goes to another.
  bool covers_memory = true;
};

/// Queue of the messages of one kind and direction through a peer slot.
[[nodiscard]] std::int32_t message_queue(std::size_t streams, const Action& action);

/// REQUIRES: the program's indices lie in their tables; `streams` is the schedule's number of
/// streams.
[[nodiscard]] WaitList wait_list(const RankProgram& program,
                                 std::size_t streams,
                                 MemoryWaits memory);

}  // namespace stagewright
