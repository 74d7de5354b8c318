#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "formats/kineto.h"

namespace stagewright {

/// Where a forward pass of a micro-batch runs one layer, on the thread of the forward passes.
struct TracedRegion {
  double begin_us = 0;
  double end_us = 0;
  std::size_t pass = 0;
  std::size_t layer = 0;  ///< 0: before the blocks; then the blocks; then what comes behind them
  friend bool operator==(const TracedRegion&, const TracedRegion&) = default;
};

/// The forward passes of a trace that are whole in it.
struct TracedPasses {
  std::int32_t thread = 0;
  std::string block;                  ///< what the trace calls a block: "Block", "block #"
  std::vector<std::string> names;     ///< of the blocks, in order
  std::vector<TracedRegion> regions;  ///< ascending, none over another
  std::size_t count = 0;
};

/// Finds the passes through a model of `blocks` equal blocks, which are the calls of a module (or
/// named ranges) with as many instances.  Of several such classes the one that takes longest is
/// meant, unless `block` names it.  What runs in the outermost module around the blocks belongs
/// to their pass, as does what comes behind until the backward begins.
[[nodiscard]] Result<TracedPasses> find_passes(const KinetoTrace& trace,
                                               std::size_t blocks,
                                               const std::string& block,
                                               const std::string& where);

/// The region around a time.
[[nodiscard]] const TracedRegion* region_at(const TracedPasses& passes, double time_us);

/// Operations that lie in no other operation of their thread, by their begin.
[[nodiscard]] std::vector<const KinetoOp*> outermost(const std::vector<KinetoOp>& ops);

/// Whether a range of PyTorch's own belongs to no layer: data loading, the optimizer.
[[nodiscard]] bool is_between_passes(const KinetoSpan& annotation);

}  // namespace stagewright
