#pragma once

#include <optional>
#include <vector>

#include "core/schedule/operation.h"
#include "core/schedule/tensor.h"

namespace stagewright {

/// An operation as the rules write it: sharded, but without collectives.
struct DraftOperation {
  Operation op;
  /// The first output is one term of a sum (kSum) or maximum (kMaximum) over a group.
  std::optional<OpVariant> partial;
  friend bool operator==(const DraftOperation&, const DraftOperation&) = default;
};

/// Pass: puts a kAllReduce over `group` on the tensor stream right behind each operation whose
/// partial result somebody needs whole, in this list or later.  Sums of partial sums stay partial.
/// An operation between the two, such as a weight gradient, overlaps with the collective. REQUIRES:
/// a group where anything is partial.
[[nodiscard]] std::vector<Operation> insert_collectives(const std::vector<DraftOperation>& draft,
                                                        std::optional<GroupSlot> group,
                                                        const std::vector<TensorSpec>& tensors);

}  // namespace stagewright
