#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/model/op.h"

namespace stagewright {

/// An ordered queue of a device.  0 computes; the others communicate.
using StreamId = Id<struct StreamTag>;
inline constexpr StreamId kComputeStream{0};

/// One sharded operation of a stage program: sizes are those of this rank.
/// Operands are described at OpKind.  An operation starts when its stream is free and the last
/// writers of its inputs (and the last users of its outputs) are done; that is also how a
/// collective is waited for, by whoever uses its result, in this action or a later one.
struct Operation {
  OpKind kind = OpKind::kAdd;
  OpVariant variant = OpVariant::kNone;
  DType dtype = DType::kFloat32;  ///< of the arithmetic
  std::optional<DType> source;    ///< kCopy: of the input, where it is not `dtype`
  StreamId stream = kComputeStream;
  bool transpose_a = false;
  bool transpose_b = false;
  bool accumulate = false;
  bool causal = false;
  bool weight_gradient = false;  ///< belongs to the weight half of a split backward
  bool decay = false;            ///< optimizer steps: weight decay applies
  OpShape shape;
  std::int64_t index =
      0;  ///< element of totals, root of a broadcast, or which dropout of the model
  /// Which entries (vocabulary operations) or rows (positions) are here.  Member p of the group has
  /// [p * stride, min((p + 1) * stride, total)); without a group the rank has all.
  struct Slice {
    std::optional<GroupSlot> group;
    std::int64_t stride = 0;
    std::int64_t total = 0;
    friend bool operator==(const Slice&, const Slice&) = default;
  };
  std::optional<Slice> slice;
  double scalar = 0;  ///< epsilon, theta, scale or value, as the kind says
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  std::optional<GroupSlot> group;  ///< of a collective
  std::optional<LayerId> layer;    ///< which layer it belongs to, for reports and measured segments
  friend bool operator==(const Operation&, const Operation&) = default;
};

/// Whether the operation needs what its outputs held before: it accumulates or updates state.
/// (In place, where an output is among the inputs, is another matter.)
[[nodiscard]] bool reads_outputs(const Operation& op);

/// Whether its first output has counted rows, behind which lies nothing that was written.
[[nodiscard]] bool writes_counted_rows(const Operation& op);

/// Whether all members of a group issue it together.
[[nodiscard]] bool is_collective(const Operation& op);

[[nodiscard]] Flops flops_of(const Operation& op);
/// Bytes that a kernel touching each operand once reads and writes; of a collective: the message.
[[nodiscard]] Bytes bytes_moved(const Operation& op);

/// Canonical text of what determines the operation's cost on a given device (kind, variant, element
/// type, flags, sizes; not tensors, layers or groups): equal text, equal price.
[[nodiscard]] std::string cost_key(const Operation& op);
/// The same for a run of operations: a hash of their texts in order.
[[nodiscard]] std::string cost_key(std::span<const Operation> ops);

}  // namespace stagewright
