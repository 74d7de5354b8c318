#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/model_graph.h"
#include "core/schedule/operation.h"

namespace stagewright {

/// Tensor parallelism (Shoeybi et al. 2019): the only place that knows what a Split means.  It says
/// how sizes divide among the members of a tensor group and which values come out as partial
/// sums; the collectives follow from that (lower/insert_collectives.h, lower/layer_writer.h).
struct TensorAxis {
  std::int32_t degree = 1;
  std::optional<GroupSlot> group;  ///< present with more than one member
  /// Sequence parallelism (Korthikanti et al. 2022): where columns are whole, rows are divided,
  /// member p having the p-th of equal parts.  Only with more than one member.
  bool divides_rows = false;
  friend bool operator==(const TensorAxis&, const TensorAxis&) = default;
};

/// How one member holds a weight: the slices of its parameters, one after the other, in one tensor.
struct WeightShard {
  struct Part {
    std::int64_t extent = 0;  ///< along the divided axis, padding included; whole axis 0 if none
    std::int64_t offset = 0;  ///< of its first element in the tensor
    friend bool operator==(const Part&, const Part&) = default;
  };
  std::vector<std::int64_t> shape;  ///< of the tensor
  std::optional<int> axis;          ///< along which the parameters are divided
  std::vector<Part> parts;          ///< by parameter
  friend bool operator==(const WeightShard&, const WeightShard&) = default;
};

/// Every degree that divides all heads, kv heads and split widths of the model, ascending.  The
/// vocabulary is padded and does not count.
[[nodiscard]] std::vector<std::int32_t> tensor_degrees(const ModelGraph& model);

/// Fails with kInfeasible, naming the size that `degree` does not divide and the degrees that do;
/// with kUnsupported for convolutional networks, whose only degree is 1.
[[nodiscard]] Result<void> check_tensor_degree(const ModelGraph& model,
                                               std::int32_t degree,
                                               const std::string& where);

/// Columns of a value on one member (of padded vocabulary entries: the largest share).
[[nodiscard]] std::int64_t local_width(const TensorAxis& axis, const LayerValue& value);
/// Whether a member has only its part of a value's rows, and how many that are, of `rows`.
[[nodiscard]] bool rows_are_divided(const TensorAxis& axis, const LayerValue& value);
[[nodiscard]] std::int64_t local_rows(const TensorAxis& axis,
                                      const LayerValue& value,
                                      std::int64_t rows);
/// Heads of an operation on one member, given its heads or kv heads.
[[nodiscard]] std::int64_t local_heads(const TensorAxis& axis,
                                       const LayerOp& op,
                                       std::int64_t heads);
[[nodiscard]] WeightShard shard(const TensorAxis& axis, const LayerWeight& weight);

/// The part of a vocabulary of `total` entries that a member has.
[[nodiscard]] Operation::Slice vocabulary_slice(const TensorAxis& axis,
                                                const LayerOp& op,
                                                std::int64_t total);

/// The part of a value's `rows` that a member has; nothing where it has all.
[[nodiscard]] std::optional<Operation::Slice> row_slice(const TensorAxis& axis,
                                                        const LayerValue& value,
                                                        std::int64_t rows);

/// The output (of a loss: its row statistics) is a sum over the group of which each member has
/// one term.
[[nodiscard]] bool output_is_partial(const TensorAxis& axis, const LayerOp& op);
/// The same for the gradient of the input.
[[nodiscard]] bool input_gradient_is_partial(const TensorAxis& axis, const LayerOp& op);
/// The same for the gradients of the weights, of which each member sees its rows only.
[[nodiscard]] bool weight_gradient_is_partial(const TensorAxis& axis, const LayerOp& op);

}  // namespace stagewright
