#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/schedule/lifetimes.h"
#include "core/schedule/rank_program.h"

namespace stagewright {

/// Follows a program's issue order and knows which lifetime each tensor is in and whose memory a
/// new one takes over, by the arena's plan.
class MemoryReuse {
 public:
  explicit MemoryReuse(const RankProgram& program);

  /// Moves on to a point; call for every operation, in issue order.  Returns the lifetimes whose
  /// memory those that begin here take over.
  std::vector<std::size_t> begin(ProgramPoint point);

  /// The lifetime that a tensor with memory of its own is in.  REQUIRES: it has begun.
  [[nodiscard]] std::size_t current(TensorId tensor, MicroBatchId micro_batch) const;

  [[nodiscard]] std::size_t lifetimes() const { return lifetimes_.size(); }

 private:
  /// Takes a stretch of memory; adds the lifetimes that had it.
  void take(std::int64_t begin,
            std::int64_t end,
            std::size_t lifetime,
            std::vector<std::size_t>& from);

  struct Stretch {
    std::int64_t end = 0;
    std::size_t lifetime = 0;
  };

  const RankProgram& program_;
  std::vector<Lifetime> lifetimes_;
  ArenaPlan arena_;
  std::size_t next_ = 0;                 ///< the first lifetime that has not begun
  std::vector<std::size_t> persistent_;  ///< by tensor
  std::map<std::pair<TensorId, MicroBatchId>, std::size_t> current_;
  std::map<std::int64_t, Stretch> last_;  ///< who had the memory last, by its begin
};

}  // namespace stagewright
