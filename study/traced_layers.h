#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "formats/kineto.h"

namespace stagewright {

/// Times of one layer, one for each pass.
struct TracedLayer {
  std::string name;  ///< as the trace calls it
  std::vector<Duration> forward;
  std::vector<Duration> backward;
  friend bool operator==(const TracedLayer&, const TracedLayer&) = default;
};

/// What a trace of PyTorch says about a model: what runs before its blocks (the embedding), its
/// blocks, and what runs behind them (the head with the loss).
struct TracedModel {
  std::vector<TracedLayer> layers;  ///< two more than blocks
  std::string block;                ///< class of the blocks in the trace
  std::size_t passes = 0;           ///< forward and backward passes that are whole in the trace
  bool on_device = false;           ///< times of kernels; else of operations on the host
  // Where shapes were recorded:
  std::optional<std::int64_t> batch;     ///< sequences of a pass
  std::optional<std::int64_t> sequence;  ///< tokens of each
  std::optional<std::int64_t> vocabulary;
  std::optional<DType> precision;  ///< of the blocks' matrix products
};

/// Adds up a trace's operations by layer.  Forward operations belong to the layer in whose call
/// they begin (find_passes); one of the backward to the layer whose forward operation made its
/// node, which has the same sequence number, and one without a number (gradients added to
/// parameters) to that of the one before it.  Where the trace has kernels, these count, by the call
/// that launched each, without communication; else the outermost operations of the host.  The
/// optimizer counts for no layer.  kInvalidInput where no forward and backward pass is whole.
[[nodiscard]] Result<TracedModel> traced_layers(const KinetoTrace& trace,
                                                std::size_t blocks,
                                                const std::string& block,
                                                const std::string& where);

}  // namespace stagewright
