#include "planner/lower/layer_writer.h"

#include <algorithm>
#include <string>

#include "core/base/check.h"

namespace stagewright {
namespace {

/// Whether an operation may write over what it reads first, made by an operation of that kind.
bool overwrites(const LayerOp& op, LayerOpKind source) {
  if (op.kind == LayerOpKind::kActivation) {
    return op.variant == OpVariant::kRelu &&
           (source == LayerOpKind::kConvolution || source == LayerOpKind::kAdd);
  }
  return (op.kind == LayerOpKind::kAdd || op.kind == LayerOpKind::kPosition ||
          op.kind == LayerOpKind::kDropout) &&
         (source == LayerOpKind::kLinear || source == LayerOpKind::kConvolution ||
          source == LayerOpKind::kEmbedding || source == LayerOpKind::kPosition ||
          source == LayerOpKind::kDropout);
}

}  // namespace

LayerWriter::LayerWriter(const RankContext& context,
                         RankDraft& draft,
                         StageProgram& stage,
                         LayerId layer,
                         std::optional<TensorId> input)
    : context_(&context),
      draft_(&draft),
      stage_(&stage),
      id_(layer),
      layer_(&context.layer(layer)),
      tensors_(layer_->values.size()),
      whole_(layer_->values.size()),
      gradients_(layer_->values.size()),
      gradients_made_(layer_->values.size()) {
  choose_in_place();
  if (layer_->input) {
    SW_CHECK(input.has_value(), "a tensor for the layer's input");
    tensors_[root_[layer_->input->index()].index()] = input;
  }
}

/// An addition overwrites the projection that it adds to, a table of positions the embedding
/// below it, a dropout either: the backward needs none of them.  Nor does it need a convolution's
/// result in front of a ReLU, which is positive where that was.  From the last on, since what is
/// overwritten may be so again.
void LayerWriter::choose_in_place() {
  for (std::size_t value = 0; value < layer_->values.size(); ++value) {
    root_.emplace_back(value);
  }
  for (std::size_t i = layer_->ops.size(); i-- > 0;) {
    const LayerOp& op = layer_->ops[i];
    if (op.inputs.empty()) {
      continue;
    }
    const ValueId x = op.inputs.front();
    const LayerOp* source = producer(x);
    if (source != nullptr && consumers(x) == 1 && overwrites(op, source->kind)) {
      root_[x.index()] = root_[op.output->index()];
    }
  }
}

const LayerOp* LayerWriter::producer(ValueId id) const {
  const auto found = std::find_if(
      layer_->ops.begin(), layer_->ops.end(), [id](const LayerOp& op) { return op.output == id; });
  return found == layer_->ops.end() ? nullptr : &*found;
}

std::size_t LayerWriter::consumers(ValueId id) const {
  std::size_t count = layer_->output == id ? 1 : 0;
  for (const LayerOp& op : layer_->ops) {
    count += static_cast<std::size_t>(std::count(op.inputs.begin(), op.inputs.end(), id));
  }
  return count;
}

std::int64_t LayerWriter::width(ValueId id) const {
  return local_width(context_->tensor, value(id));
}

std::int64_t LayerWriter::rows(ValueId id) const {
  return local_rows(context_->tensor, value(id), context_->rows());
}

TensorId LayerWriter::add_tensor(std::string name, std::int64_t rows, std::int64_t columns) {
  return draft_->add_tensor({.name = std::move(name),
                             .dtype = storage_type(context_->plan->precision.compute),
                             .shape = {rows, columns},
                             .tensor_class = TensorClass::kActivation,
                             .scope = TensorScope::kMicroBatch,
                             .view = std::nullopt});
}

TensorId LayerWriter::tensor(ValueId id) {
  const ValueId root = root_[id.index()];
  std::optional<TensorId>& made = tensors_[root.index()];
  if (!made) {
    made = add_tensor(layer_->name + "." + value(root).name, rows(root), width(root));
  }
  return *made;
}

TensorId LayerWriter::whole(ValueId id, GatherFor use) {
  const TensorId part = tensor(id);
  if (!rows_are_divided(context_->tensor, value(id))) {
    return part;
  }
  std::optional<TensorId>& made = whole_[root_[id.index()].index()];
  if (!made) {
    made = add_tensor(
        draft_->program.tensors[part.index()].name + ".whole", context_->rows(), width(id));
  }
  emit_exchange(OpKind::kAllGather, part, *made, use);
  return *made;
}

TensorId LayerWriter::whole_gradient(ValueId id, TensorId gradient, GatherFor use) {
  if (!rows_are_divided(context_->tensor, value(id))) {
    return gradient;
  }
  const TensorId made = add_tensor(
      draft_->program.tensors[gradient.index()].name + ".whole", context_->rows(), width(id));
  emit_exchange(OpKind::kAllGather, gradient, made, use);
  return made;
}

void LayerWriter::emit_exchange(OpKind kind, TensorId from, TensorId to, GatherFor use) {
  const TensorSpec& all = draft_->program.tensors[(kind == OpKind::kAllGather ? to : from).index()];
  Operation op;
  op.kind = kind;
  op.variant = kind == OpKind::kAllGather ? OpVariant::kNone : OpVariant::kSum;
  op.dtype = all.dtype;
  op.stream = kTensorStream;
  op.weight_gradient = use == GatherFor::kWeights;
  op.shape.cols = all.elements();
  op.inputs = {from};
  op.outputs = {to};
  op.group = context_->tensor.group;
  op.layer = id_;
  emit(std::move(op));
}

TensorId LayerWriter::extra(const LayerOp& op,
                            std::string_view suffix,
                            DType type,
                            std::vector<std::int64_t> shape,
                            TensorClass tensor_class) {
  const auto index = static_cast<std::size_t>(&op - layer_->ops.data());
  const auto found = extras_.find({index, std::string(suffix)});
  if (found != extras_.end()) {
    return found->second;
  }
  std::string name = layer_->name + "." + op.name + ".";
  name += suffix;
  const TensorId made = draft_->add_tensor({.name = std::move(name),
                                            .dtype = type,
                                            .shape = std::move(shape),
                                            .tensor_class = tensor_class,
                                            .scope = TensorScope::kMicroBatch,
                                            .view = std::nullopt});
  extras_.emplace(std::pair{index, std::string(suffix)}, made);
  return made;
}

const HeldWeight& LayerWriter::held(const LayerOp& op, std::size_t index) const {
  const WeightId own{.layer = id_, .index = op.weights[index]};
  return draft_->held(tie_root(*context_->model, own));
}

TensorId LayerWriter::weight(const LayerOp& op, std::size_t index) const {
  return held(op, index).weight;
}

TensorId LayerWriter::weight_gradient(const LayerOp& op, std::size_t index) const {
  return held(op, index).gradient;
}

TensorId LayerWriter::input_tensor(std::optional<TensorId>& tensor,
                                   const char* name,
                                   std::vector<std::int64_t> shape) {
  if (!tensor) {
    tensor = draft_->add_tensor({.name = name,
                                 .dtype = DType::kInt32,
                                 .shape = std::move(shape),
                                 .tensor_class = TensorClass::kInput,
                                 .scope = TensorScope::kMicroBatch,
                                 .view = std::nullopt});
  }
  return *tensor;
}

TensorId LayerWriter::tokens() {
  return input_tensor(stage_->tokens, "tokens", {context_->rows()});
}

TensorId LayerWriter::images(std::int64_t elements) {
  return input_tensor(stage_->tokens, "images", {context_->rows(), elements});
}

TensorId LayerWriter::targets() {
  return input_tensor(stage_->targets, "targets", {context_->rows()});
}

bool LayerWriter::computes_loss() const {
  return std::ranges::any_of(layer_->ops, [](const LayerOp& op) {
    return op.kind == LayerOpKind::kCrossEntropy || op.kind == LayerOpKind::kSquaredError;
  });
}

Operation LayerWriter::operation(OpKind kind) const {
  Operation op;
  op.kind = kind;
  op.dtype = context_->plan->precision.compute;
  if (op.dtype == DType::kFloat8 && computes_loss()) {
    // Logits in few bits lose the loss: frameworks leave the output layer out.
    op.dtype = storage_type(op.dtype);
  }
  op.shape.rows = context_->rows();
  op.layer = id_;
  return op;
}

Operation LayerWriter::operation(OpKind kind, ValueId rows_of) const {
  Operation op = operation(kind);
  op.shape.rows = rows(rows_of);
  return op;
}

void LayerWriter::emit(Operation op, std::optional<OpVariant> partial) {
  operations_.push_back({.op = std::move(op), .partial = partial});
}

void LayerWriter::emit_term(Operation op, ValueId id) {
  if (!rows_are_divided(context_->tensor, value(id))) {
    emit(std::move(op), OpVariant::kSum);
    return;
  }
  const TensorId sum = op.outputs.front();
  const TensorId term =
      add_tensor(draft_->program.tensors[sum.index()].name + ".term", context_->rows(), width(id));
  op.outputs.front() = term;
  emit(std::move(op));
  emit_exchange(OpKind::kReduceScatter, term, sum, GatherFor::kInputs);
}

void LayerWriter::add_gradient(ValueId id, TensorId tensor, Ownership ownership) {
  gradients_[id.index()].push_back({.tensor = tensor, .ownership = ownership});
}

TensorId LayerWriter::take_gradient(ValueId id) {
  std::vector<Contribution> parts = std::move(gradients_[id.index()]);
  gradients_[id.index()].clear();
  SW_CHECK(!parts.empty(), "a reader that adds to the gradient of a value");
  Contribution sum = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    // Into the newer tensor: a weight gradient that runs later may still read a shared one.
    Contribution& next = parts[i];
    TensorId target = next.tensor;
    if (next.ownership == Ownership::kShared) {
      target = sum.ownership == Ownership::kOwned ? sum.tensor : new_gradient(id, "sum");
    }
    Operation add = operation(OpKind::kAdd, id);
    add.shape.cols = width(id);
    add.inputs = {sum.tensor, next.tensor};
    add.outputs = {target};
    emit(std::move(add));
    sum = {.tensor = target, .ownership = Ownership::kOwned};
  }
  return sum.tensor;
}

TensorId LayerWriter::new_gradient(ValueId id, std::string_view by) {
  // Of values that share a tensor each has a gradient of its own.
  const bool shares = root_[id.index()] != id;
  std::string name = shares ? layer_->name + "." + value(id).name
                            : draft_->program.tensors[tensor(id).index()].name;
  name += ".grad";
  if (gradients_made_[id.index()]++ > 0) {
    name += ".";
    name += by;
  }
  return add_tensor(std::move(name), rows(id), width(id));
}

std::vector<DraftOperation> LayerWriter::take_operations() {
  return std::exchange(operations_, {});
}

}  // namespace stagewright
