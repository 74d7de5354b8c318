#include <string_view>
#include <utility>
#include <vector>

#include "planner/lower/rules/rules.h"

namespace stagewright {
namespace {

constexpr std::size_t kUp = 0;
constexpr std::size_t kDown = 1;

/// Writes the operations of one layer's experts on one member.
class Experts {
 public:
  Experts(LayerWriter& writer, const LayerOp& op)
      : writer_(writer),
        op_(op),
        axis_(writer.context().expert),
        experts_(writer.width(op.inputs[1])),
        hidden_(writer.width(op.inputs[0])),
        rows_(counted_rows(axis_, experts_, op.experts_per_token, writer.context().rows())) {
    const LayerWeight& down = writer.layer().weights[op.weights[kDown]];
    width_ = down.parameters.front().shape.back();
    up_width_ = (op.variant == OpVariant::kSwiGlu ? 2 : 1) * width_;
  }

  void forward() {
    Operation route = on_tokens(OpKind::kRouteForward, experts_);
    route.inputs = {scores()};
    route.outputs = {gates(), choices(), places(), counts()};
    writer_.emit(std::move(route));
    Operation dispatch = on_tokens(OpKind::kDispatch, hidden_);
    dispatch.inputs = {writer_.tensor(op_.inputs[0]), places()};
    dispatch.outputs = {counted("sent", hidden_)};
    writer_.emit(std::move(dispatch));
    if (axis_.group) {
      send_counts();
      exchange(counted("sent", hidden_), counts(), received());
    }
    product(received(), kUp, counted("up", up_width_), {up_width_, hidden_, true});
    Operation activation = on_counted(OpKind::kActivationForward, width_);
    activation.variant = op_.variant;
    activation.inputs = {counted("up", up_width_), arrived()};
    activation.outputs = {counted("activation", width_)};
    writer_.emit(std::move(activation));
    product(counted("activation", width_), kDown, made(), {hidden_, width_, true});
    if (axis_.group) {
      exchange(made(), arrived(), returned());
    }
    Operation combine = on_tokens(OpKind::kCombine, hidden_);
    combine.inputs = {returned(), places(), gates()};
    combine.outputs = {writer_.tensor(*op_.output)};
    writer_.emit(std::move(combine));
  }

  void backward() {
    const TensorId dreturned = counted("returned.grad", hidden_);
    const TensorId dgates = per_choice("gates.grad", DType::kFloat32);
    Operation combine = on_tokens(OpKind::kCombineBackward, hidden_);
    combine.inputs = {writer_.take_gradient(*op_.output), returned(), places(), gates()};
    combine.outputs = {dreturned, dgates};
    writer_.emit(std::move(combine));
    route_backward(dgates);
    TensorId dmade = dreturned;
    if (axis_.group) {
      dmade = counted("made.grad", hidden_);
      exchange(dreturned, counts(), dmade);
    }
    const TensorId dactive = counted("activation.grad", width_);
    product(dmade, kDown, dactive, {width_, hidden_, false});
    const TensorId dup = counted("up.grad", up_width_);
    Operation activation = on_counted(OpKind::kActivationBackward, width_);
    activation.variant = op_.variant;
    activation.inputs = {dactive, counted("up", up_width_), arrived()};
    activation.outputs = {dup};
    writer_.emit(std::move(activation));
    const TensorId dreceived = counted("received.grad", hidden_);
    product(dup, kUp, dreceived, {hidden_, up_width_, false});
    TensorId dsent = dreceived;
    if (axis_.group) {
      dsent = counted("sent.grad", hidden_);
      exchange(dreceived, arrived(), dsent);
    }
    weight_gradient(dmade, counted("activation", width_), kDown, hidden_, width_);
    weight_gradient(dup, received(), kUp, up_width_, hidden_);
    const TensorId dx = writer_.new_gradient(op_.inputs[0], op_.name);
    Operation gather = on_tokens(OpKind::kCombine, hidden_);
    gather.inputs = {dsent, places()};
    gather.outputs = {dx};
    writer_.emit(std::move(gather));
    writer_.add_gradient(op_.inputs[0], dx, Ownership::kOwned);
  }

 private:
  /// Columns of a product's result and of its first operand, and whether the matrix is transposed.
  struct Product {
    std::int64_t cols = 0;
    std::int64_t inner = 0;
    bool transposed = false;
  };

  [[nodiscard]] TensorId scores() { return writer_.tensor(op_.inputs[1]); }
  [[nodiscard]] TensorId gates() { return per_choice("gates", DType::kFloat32); }
  [[nodiscard]] TensorId choices() { return per_choice("choices", DType::kInt32); }
  [[nodiscard]] TensorId places() { return per_choice("places", DType::kInt32); }
  [[nodiscard]] TensorId counts() { return table("counts"); }
  /// How many rows came from each member for each expert.
  [[nodiscard]] TensorId arrived() { return table(axis_.group ? "arrived" : "counts"); }
  [[nodiscard]] TensorId received() { return counted(axis_.group ? "received" : "sent", hidden_); }
  [[nodiscard]] TensorId made() { return counted("made", hidden_); }
  [[nodiscard]] TensorId returned() { return counted(axis_.group ? "returned" : "made", hidden_); }

  [[nodiscard]] TensorId per_choice(std::string_view what, DType type) {
    return writer_.extra(op_, what, type, {writer_.context().rows(), op_.experts_per_token});
  }
  [[nodiscard]] TensorId table(std::string_view what) {
    return writer_.extra(op_, what, DType::kInt32, {rows_.parts, rows_.experts});
  }
  /// As large as they can become: whatever the tokens choose, it fits.
  [[nodiscard]] TensorId counted(std::string_view what, std::int64_t width) {
    return writer_.extra(op_,
                         what,
                         storage_type(writer_.context().plan->precision.compute),
                         {rows_.parts * rows_.largest, width});
  }

  [[nodiscard]] Operation on_tokens(OpKind kind, std::int64_t cols) const {
    Operation op = writer_.operation(kind);
    op.shape.cols = cols;
    op.shape.inner = op_.experts_per_token;
    if (kind == OpKind::kRouteForward) {
      op.shape.batch = rows_.parts;
      op.shape.heads = rows_.experts;
      op.shape.sequence = rows_.largest;
    }
    return op;
  }

  [[nodiscard]] Operation on_counted(OpKind kind, std::int64_t cols) const {
    Operation op = writer_.operation(kind);
    op.shape.rows = rows_.expected;
    op.shape.cols = cols;
    op.shape.batch = rows_.parts;
    op.shape.heads = rows_.experts;
    op.shape.sequence = rows_.largest;
    return op;
  }

  void product(TensorId in, std::size_t weight, TensorId out, const Product& sizes) {
    Operation product = on_counted(OpKind::kGroupedGemm, sizes.cols);
    product.shape.inner = sizes.inner;
    product.transpose_b = sizes.transposed;
    product.inputs = {in, writer_.weight(op_, weight), arrived()};
    product.outputs = {out};
    writer_.emit(std::move(product));
  }

  void weight_gradient(
      TensorId dy, TensorId x, std::size_t weight, std::int64_t out, std::int64_t in) {
    Operation product = on_counted(OpKind::kGroupedGemm, in);
    product.shape.inner = rows_.expected;
    product.shape.rows = out;
    product.transpose_a = true;
    product.accumulate = true;
    product.weight_gradient = true;
    product.inputs = {dy, x, arrived()};
    product.outputs = {writer_.weight_gradient(op_, weight)};
    writer_.emit(std::move(product));
  }

  [[nodiscard]] Operation to_all() const {
    Operation exchange = writer_.operation(OpKind::kAllToAll);
    exchange.stream = kExchangeStream;
    exchange.group = axis_.group;
    exchange.shape.rows = 1;
    return exchange;
  }

  void send_counts() {
    Operation send = to_all();
    send.dtype = DType::kInt32;
    send.shape.cols = experts_;
    send.inputs = {counts()};
    send.outputs = {arrived()};
    writer_.emit(std::move(send));
  }

  void exchange(TensorId from, TensorId counts, TensorId to) {
    Operation send = to_all();
    send.dtype = storage_type(send.dtype);
    send.shape.cols = rows_.expected * hidden_;
    send.shape.inner = hidden_;
    send.shape.batch = rows_.parts;
    send.shape.heads = rows_.experts;
    send.inputs = {from, counts};
    send.outputs = {to};
    writer_.emit(std::move(send));
  }

  void route_backward(TensorId dgates) {
    const TensorId dscores = writer_.new_gradient(op_.inputs[1], op_.name);
    Operation route = on_tokens(OpKind::kRouteBackward, experts_);
    route.inputs = {dgates, gates(), choices()};
    if (op_.scalar > 0) {
      const RankContext& context = writer_.context();
      route.shape.sequence = context.tokens();
      route.scalar =
          op_.scalar * loss_gradient_scale(*context.plan, context.micro_batches_per_update());
      route.inputs.push_back(scores());
    }
    route.outputs = {dscores};
    writer_.emit(std::move(route));
    writer_.add_gradient(op_.inputs[1], dscores, Ownership::kOwned);
  }

  LayerWriter& writer_;
  const LayerOp& op_;
  const ExpertAxis& axis_;
  std::int64_t experts_;
  std::int64_t hidden_;
  CountedRows rows_;
  std::int64_t width_ = 0;     ///< inner width of an expert
  std::int64_t up_width_ = 0;  ///< the same with gates
};

void forward(LayerWriter& writer, const LayerOp& op) {
  Experts(writer, op).forward();
}

void backward(LayerWriter& writer, const LayerOp& op) {
  Experts(writer, op).backward();
}

}  // namespace

OpRule experts_rule() {
  return {forward, backward};
}

}  // namespace stagewright
