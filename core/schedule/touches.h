#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/schedule/rank_program.h"

namespace stagewright {

/// A stretch of operations of one action that touch one micro-batch tensor: from a write that does
/// not need the old content (`fresh`), or from the first use, to the last use before the next such
/// write.  `reads`: the first of these operations needs the content.
struct Touch {
  TensorId tensor;
  std::int32_t first_op = 0;
  std::int32_t last_op = 0;
  bool fresh = false;
  bool reads = false;
  friend bool operator==(const Touch&, const Touch&) = default;
};

/// What the actions of a program touch, worked out once per (stage, kind): every micro-batch of a
/// stage does the same.  The program must outlive the table.
class TouchTable {
 public:
  explicit TouchTable(const RankProgram& program);

  /// Ascending by first_op, then tensor.  Persistent tensors are left out; views stand for their
  /// base.  REQUIRES: the action's stage or bucket is the program's.
  [[nodiscard]] const std::vector<Touch>& of(const Action& action);

 private:
  using PerKind = std::array<std::optional<std::vector<Touch>>, kActionKindCount>;

  [[nodiscard]] std::vector<Touch> work_out(const Action& action) const;

  const RankProgram* program_;
  std::vector<PerKind> stages_;   ///< like program_->stages
  std::vector<PerKind> buckets_;  ///< like program_->buckets
  PerKind others_;
};

/// Tensor that owns the memory of `tensor`: its own, or the one that it is a window into.
[[nodiscard]] TensorId memory_owner(const RankProgram& program, TensorId tensor);

}  // namespace stagewright
