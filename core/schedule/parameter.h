#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/model/model_graph.h"

namespace stagewright {

/// One row of a rank's parameter table: which part of which named parameter it holds, and where.
struct ParameterSlice {
  std::string name;                        ///< as in the checkpoint
  std::vector<std::int64_t> global_shape;  ///< whole
  std::optional<int> shard_axis;           ///< absent: the whole parameter is here
  /// The rank at position p of this group holds [p * extent, (p + 1) * extent) along shard_axis,
  /// cut at the global shape (what lies beyond is padding).  Present with shard_axis.
  std::optional<GroupSlot> shard_group;
  std::int64_t extent = 0;         ///< along shard_axis, padding included
  TensorId weight;                 ///< tensor that holds it ...
  std::int64_t weight_offset = 0;  ///< ... from this element on, row-major, contiguous
  TensorId gradient;               ///< same place in the gradient's tensor
  /// Of the weight's tensor each member of the group has `stride` elements, position after
  /// position; weight_offset counts in all of them together, and the rank holds what of the slice
  /// lies in its part.
  struct FlatShard {
    GroupSlot group;
    std::int64_t stride = 0;
    friend bool operator==(const FlatShard&, const FlatShard&) = default;
  };
  std::optional<FlatShard> flat_shard;
  Initializer initializer = Initializer::kNormal;
  double deviation = 0.02;
  bool decay = false;
  double copies = 1;  ///< how many ranks of the world hold this very slice; norms count each once
  std::optional<BucketId> bucket;      ///< whose reduction makes its gradient complete
  std::optional<std::string> tied_to;  ///< equal parameter elsewhere
  /// Tensors like `weight` in which an asynchronous schedule keeps other versions of it.
  std::vector<TensorId> other_versions;
  friend bool operator==(const ParameterSlice&, const ParameterSlice&) = default;
};

}  // namespace stagewright
