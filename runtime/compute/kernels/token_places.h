#pragma once

#include "runtime/compute/kernels/portable.h"

namespace stagewright::kernels {

/// Which tokens the rows of a kernel are.  Row r is row first_row + r of those that the rank sees
/// of a micro-batch: its part of one sequence after the other (Schedule::sequence_parts).
///
/// What attention relies on: the tokens of a part ascend, so that a part is causal within itself.
/// And of two parts, all tokens of the later one see the first half of the earlier one and nothing
/// of its second; those in the second half of the earlier one see all of the later one, those in
/// its first half nothing.
struct TokenPlaces {
  Index tokens = 1;  ///< of a sequence, on this rank; even where there are several parts
  Index part = 0;
  Index parts = 1;
  Index first_row = 0;

  /// Place in the whole sequence of one of the rank's tokens of it.
  [[nodiscard]] SW_HOST_DEVICE Index place(Index token) const {
    if (parts == 1) {
      return token;
    }
    const Index block = tokens / 2;
    return token < block ? part * block + token : (2 * parts - 1 - part) * block + (token - block);
  }
  /// Where a row stands in its whole sequence.
  [[nodiscard]] SW_HOST_DEVICE Index in_sequence(Index row) const {
    return place((first_row + row) % tokens);
  }
  /// Where it stands among the tokens of the whole micro-batch.
  [[nodiscard]] SW_HOST_DEVICE Index in_micro_batch(Index row) const {
    const Index here = first_row + row;
    return here / tokens * (tokens * parts) + place(here % tokens);
  }
};

}  // namespace stagewright::kernels
