#include "planner/lower/ring_attention.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"

namespace stagewright {
namespace {

/// Emits what one member does about one attention operation.
class Ring {
 public:
  Ring(LayerWriter& writer, const LayerOp& op, const OpShape& shape)
      : writer_(writer),
        op_(op),
        rows_(shape.batch * shape.sequence),
        begin_(shape.heads * shape.head_dim),
        width_(2 * shape.kv_heads * shape.head_dim) {
    SW_CHECK(writer.context().context.group.has_value(), "members to go round");
  }

  [[nodiscard]] std::int32_t members() const { return writer_.context().context.degree; }

  /// What a member has of keys and values, or of their gradients, after so many steps.
  [[nodiscard]] TensorId tensor(std::string_view what, std::int32_t steps) {
    return writer_.extra(op_,
                         fmt::format("{}.{}", what, steps),
                         storage_type(writer_.context().plan->precision.compute),
                         {rows_, width_});
  }

  /// The member's own keys and values.
  void pack(TensorId qkv) {
    Operation copy = on_columns(OpKind::kCopyColumns);
    copy.inputs = {qkv};
    copy.outputs = {tensor(kKeys, 0)};
    writer_.emit(std::move(copy));
  }

  void shift(TensorId from, TensorId to) {
    Operation shift = writer_.operation(OpKind::kRingShift);
    shift.dtype = storage_type(shift.dtype);
    shift.stream = kExchangeStream;
    shift.shape.rows = 1;
    shift.shape.cols = rows_ * width_;
    shift.inputs = {from};
    shift.outputs = {to};
    shift.group = writer_.context().context.group;
    writer_.emit(std::move(shift));
  }

  void shift_keys(std::int32_t steps) { shift(tensor(kKeys, steps), tensor(kKeys, steps + 1)); }

  void clear(TensorId tensor) {
    Operation fill = writer_.operation(OpKind::kFill);
    fill.dtype = storage_type(fill.dtype);
    fill.shape.rows = rows_;
    fill.shape.cols = width_;
    fill.outputs = {tensor};
    writer_.emit(std::move(fill));
  }

  /// sum += term.
  void add(TensorId term, TensorId sum) {
    Operation add = writer_.operation(OpKind::kAdd);
    add.shape.rows = rows_;
    add.shape.cols = width_;
    add.inputs = {term, sum};
    add.outputs = {sum};
    writer_.emit(std::move(add));
  }

  void unpack(TensorId dkv, TensorId dqkv) {
    Operation add = on_columns(OpKind::kAddColumns);
    add.inputs = {dkv};
    add.outputs = {dqkv};
    writer_.emit(std::move(add));
  }

  static constexpr std::string_view kKeys = "kv";
  static constexpr std::string_view kGradient = "dkv";           ///< what this member adds
  static constexpr std::string_view kReceived = "dkv.received";  ///< what those before it added

 private:
  [[nodiscard]] Operation on_columns(OpKind kind) const {
    Operation op = writer_.operation(kind);
    op.index = begin_;
    op.shape.rows = rows_;
    op.shape.cols = width_;
    op.shape.inner = begin_ + width_;
    return op;
  }

  LayerWriter& writer_;
  const LayerOp& op_;
  std::int64_t rows_;
  std::int64_t begin_;  ///< column of the packed tensor where the keys begin
  std::int64_t width_;
};

/// The same attention to what has come `steps` members far.
Operation joined(const Operation& own, std::int32_t steps, TensorId kv) {
  Operation attend = own;
  attend.accumulate = true;
  attend.index = steps;
  attend.inputs.push_back(kv);
  return attend;
}

}  // namespace

void emit_ring_forward(LayerWriter& writer, const LayerOp& op, const Operation& own) {
  Ring ring(writer, op, own.shape);
  ring.pack(own.inputs.front());
  ring.shift_keys(0);
  writer.emit(own);
  for (std::int32_t steps = 1; steps < ring.members(); ++steps) {
    if (steps + 1 < ring.members()) {
      ring.shift_keys(steps);
    }
    writer.emit(joined(own, steps, ring.tensor(Ring::kKeys, steps)));
  }
}

void emit_ring_backward(LayerWriter& writer, const LayerOp& op, const Operation& own) {
  constexpr std::size_t kPacked = 1;  // among the inputs of the backward
  Ring ring(writer, op, own.shape);
  const TensorId dqkv = own.outputs.front();
  ring.pack(own.inputs[kPacked]);
  ring.shift_keys(0);
  writer.emit(own);
  for (std::int32_t steps = 1; steps < ring.members(); ++steps) {
    if (steps + 1 < ring.members()) {
      ring.shift_keys(steps);
    }
    const TensorId gradient = ring.tensor(Ring::kGradient, steps);
    ring.clear(gradient);
    Operation attend = joined(own, steps, ring.tensor(Ring::kKeys, steps));
    attend.outputs.insert(attend.outputs.begin() + 1, gradient);
    writer.emit(std::move(attend));
    if (steps > 1) {
      ring.add(ring.tensor(Ring::kReceived, steps), gradient);
    }
    ring.shift(gradient, ring.tensor(Ring::kReceived, steps + 1));
  }
  ring.unpack(ring.tensor(Ring::kReceived, ring.members()), dqkv);
}

}  // namespace stagewright
