#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/schedule/rank_program.h"
#include "sim/cost/phase_price.h"
#include "sim/engine/pass_messages.h"

namespace stagewright {

/// From the first begin to the last end of some operations, counted from the begin of their piece.
struct Stretch {
  Duration begin{};
  Duration end{};
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

/// How a piece uses a tensor (named by whoever owns its memory).
struct TensorUse {
  TensorId tensor;
  std::optional<Stretch> read;
  std::optional<Stretch> written;
  friend bool operator==(const TensorUse&, const TensorUse&) = default;
};

/// How a piece uses a communication stream.
struct StreamUse {
  StreamId stream;
  Stretch time;
  bool exposed = false;  ///< some of it lies outside the time in which the piece computes
  friend bool operator==(const StreamUse&, const StreamUse&) = default;
};

/// Idle time of the compute stream, waiting for a collective.
struct CollectiveWait {
  std::string kind;  ///< of its group
  Duration time{};
  friend bool operator==(const CollectiveWait&, const CollectiveWait&) = default;
};

/// Operations that keep their distances from each other whatever happens elsewhere: nothing but
/// the first of them waits for another piece.
struct Piece {
  std::vector<PricedOperation> ops;  ///< starts count from the begin of the piece
  Duration duration{};  ///< until its compute stream is free again; without computation, its end
  /// When the compute stream begins; absent if it has nothing to do.
  std::optional<Duration> compute_begin;
  /// The collective that the piece is, where all members of this group have to come together.
  std::optional<GroupSlot> meeting;
  std::vector<StreamUse> streams;
  std::vector<TensorUse> tensors;         ///< those that other pieces may wait for
  std::vector<CollectiveWait> waits;      ///< after compute_begin
  std::optional<CollectiveWait> leading;  ///< before compute_begin
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// Everything that an action runs, as pieces in issue order.
struct PhasePieces {
  std::vector<Piece> pieces;
  std::map<PriceSource, Duration> by_source;  ///< sum of the operations' durations
  double seconds = 0;                         ///< as in PricedOperations
  friend bool operator==(const PhasePieces&, const PhasePieces&) = default;
};

/// Which operations of an action stand as pieces of their own.
struct PieceCuts {
  /// Every collective does, where an action exists for its collectives.
  bool every_collective = false;
  /// Otherwise those over the groups whose members may arrive at different times; by GroupSlot.
  std::vector<bool> meets;
  /// Tensors that other ranks have a part in: who reads one first begins a piece.
  std::vector<TensorId> arriving;
  /// What the first piece waits for and the last one makes, whichever operations read and write it.
  PassMessages whole;
};

/// Cuts an action's operations into pieces: a collective that is cut out stands alone, and what
/// depends on it, or on a tensor that arrives, begins a new piece.  `tensors` of every piece
/// hold all that it uses.
[[nodiscard]] PhasePieces cut_into_pieces(const RankProgram& program,
                                          const ActionOperations& selection,
                                          const PricedOperations& priced,
                                          const PieceCuts& cuts,
                                          const RankPlace& place);

/// Marks the tensors that a piece uses on a communication stream outside the time in which it
/// computes.  For all others the order on the compute stream says enough.
void mark_exposed_tensors(const RankProgram& program,
                          const ActionOperations& selection,
                          const Piece& piece,
                          std::vector<bool>& marked);

/// Forgets the uses of tensors that are not marked (by TensorId).
void keep_marked(Piece& piece, const std::vector<bool>& marked);

}  // namespace stagewright
