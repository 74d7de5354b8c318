#include "planner/lower/emit_stages.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/check.h"
#include "planner/lower/layer_writer.h"
#include "planner/lower/recompute.h"
#include "planner/lower/rules/rules.h"
#include "planner/lower/shard_bucket.h"

namespace stagewright {
namespace {

/// Writers of a stage's layers and what they wrote in the forward.
struct StageDraft {
  std::vector<LayerWriter> layers;
  std::vector<std::vector<DraftOperation>> forward;  ///< by layer
};

void append(std::vector<DraftOperation>& list, std::vector<DraftOperation> more) {
  list.insert(
      list.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// What crosses a border of a stage.
enum class Cargo : std::uint8_t {
  kActivation,
  kGradient
};

/// The element type in which it travels.  Gradients of a mean over many tokens are far below what
/// fp16 can hold without a scale for the loss, so they stay as they are.
DType type_on_the_way(const RankContext& context, Cargo cargo) {
  const PrecisionPlan& precision = context.plan->precision;
  // Messages may be narrower than what is computed.
  const DType stored = storage_type(precision.compute);
  const DType asked = precision.transfer.value_or(stored);
  const DType type = asked == DType::kFloat8 ? asked : storage_type(asked);
  const bool too_narrow = cargo == Cargo::kGradient && type == DType::kFloat16;
  return too_narrow ? stored : type;
}

/// A message's tensor.
TensorId add_border(const RankContext& context,
                    RankDraft& draft,
                    std::string name,
                    std::vector<std::int64_t> shape,
                    Cargo cargo) {
  return draft.add_tensor({.name = std::move(name),
                           .dtype = type_on_the_way(context, cargo),
                           .shape = std::move(shape),
                           .tensor_class = TensorClass::kCommunication,
                           .scope = TensorScope::kMicroBatch,
                           .view = std::nullopt});
}

/// Of a value that crosses a border, on this rank.
std::vector<std::int64_t> shape_of(const RankContext& context, const LayerValue& value) {
  return {local_rows(context.tensor, value, context.rows()), local_width(context.tensor, value)};
}

DraftOperation conversion(const RankDraft& draft, TensorId from, TensorId to) {
  const std::vector<std::int64_t>& shape = draft.program.tensors[to.index()].shape;
  DraftOperation copy;
  copy.op.kind = OpKind::kCopy;
  copy.op.dtype = draft.program.tensors[to.index()].dtype;
  copy.op.source = draft.program.tensors[from.index()].dtype;
  copy.op.shape.rows = shape.front();
  copy.op.shape.cols = shape.back();
  copy.op.inputs = {from};
  copy.op.outputs = {to};
  return copy;
}

/// The tensor that a stage computes with, given the one that it has received: the same, or one that
/// an operation appended to `ops` fills.
TensorId unpack(const RankContext& context,
                RankDraft& draft,
                TensorId received,
                std::vector<DraftOperation>& ops) {
  const TensorSpec& spec = draft.program.tensors[received.index()];
  const DType type = storage_type(context.plan->precision.compute);
  if (spec.dtype == type) {
    return received;
  }
  const TensorId computed = draft.add_tensor({.name = spec.name + ".unpacked",
                                              .dtype = type,
                                              .shape = spec.shape,
                                              .tensor_class = TensorClass::kActivation,
                                              .scope = TensorScope::kMicroBatch,
                                              .view = std::nullopt});
  ops.push_back(conversion(draft, received, computed));
  return computed;
}

/// The tensor to be sent for one that a stage has computed.
TensorId pack(const RankContext& context,
              RankDraft& draft,
              TensorId computed,
              Cargo cargo,
              std::vector<DraftOperation>& ops) {
  TensorSpec& spec = draft.program.tensors[computed.index()];
  if (spec.dtype == type_on_the_way(context, cargo)) {
    spec.tensor_class = TensorClass::kCommunication;
    return computed;
  }
  const TensorId sent = add_border(context, draft, spec.name + ".packed", spec.shape, cargo);
  ops.push_back(conversion(draft, computed, sent));
  return sent;
}

bool is_first(StageId stage) {
  return stage.value() == 0;
}

bool is_last(const RankContext& context, StageId stage) {
  return stage.index() + 1 == context.plan->stages.size();
}

StageId after(StageId stage) {
  return StageId(stage.value() + 1);
}

StageId before(StageId stage) {
  return StageId(stage.value() - 1);
}

/// The activation from the stage before: received, or the other stage's own output.
std::optional<TensorId> make_input(const RankContext& context, RankDraft& draft, StageId stage) {
  if (is_first(stage)) {
    return std::nullopt;
  }
  if (context.pipeline.hands_over(before(stage))) {
    return draft.program.stage(before(stage)).output;
  }
  const Layer& first = context.layer(LayerId(context.stage(stage).first_layer));
  SW_CHECK(first.input.has_value(), "an input of a stage's first layer");
  return add_border(context,
                    draft,
                    fmt::format("stage.{}.input", stage.value()),
                    shape_of(context, first.values[first.input->index()]),
                    Cargo::kActivation);
}

/// The gradient of the stage's output: received, or the other stage's own input gradient.
TensorId make_output_gradient(const RankContext& context, RankDraft& draft, StageId stage) {
  if (context.pipeline.hands_over(stage)) {
    return *draft.program.stage(after(stage)).input_gradient;
  }
  const StagePlan& plan = context.stage(stage);
  const Layer& last = context.layer(LayerId(plan.first_layer + plan.layers - 1));
  return add_border(context,
                    draft,
                    fmt::format("stage.{}.output.grad", stage.value()),
                    shape_of(context, last.values[last.output->index()]),
                    Cargo::kGradient);
}

StageDraft write_forward(const RankContext& context, RankDraft& draft, StageProgram& program) {
  const StagePlan& plan = context.stage(program.stage);
  program.input = make_input(context, draft, program.stage);
  StageDraft stage;
  std::vector<DraftOperation> ops;
  std::optional<TensorId> tensor;
  if (program.input) {
    tensor = unpack(context, draft, *program.input, ops);
  }
  for (std::int32_t i = plan.first_layer; i < plan.first_layer + plan.layers; ++i) {
    LayerWriter& writer = stage.layers.emplace_back(context, draft, program, LayerId(i), tensor);
    for (const LayerOp& op : writer.layer().ops) {
      rule_of(op.kind).forward(writer, op);
    }
    stage.forward.push_back(writer.take_operations());
    append(ops, stage.forward.back());
    tensor =
        writer.layer().output ? std::optional(writer.tensor(*writer.layer().output)) : std::nullopt;
  }
  if (!is_last(context, program.stage)) {
    SW_CHECK(tensor.has_value(), "an output of a stage's last layer");
    program.output = context.pipeline.hands_over(program.stage)
                         ? *tensor
                         : pack(context, draft, *tensor, Cargo::kActivation, ops);
  }
  program.forward = insert_collectives(ops, context.tensor.group, draft.program.tensors);
  return stage;
}

/// What of a layer runs again.  Embedding and head save little that a second forward would spare.
std::vector<DraftOperation> repeated(const RankContext& context,
                                     RankDraft& draft,
                                     const StagePlan& plan,
                                     std::size_t layer,
                                     LayerRole role,
                                     const std::vector<DraftOperation>& forward,
                                     const std::vector<DraftOperation>& backward) {
  if (role != LayerRole::kBlock ||
      static_cast<std::int32_t>(layer) >= plan.recompute_layers.value_or(plan.layers)) {
    return {};
  }
  switch (plan.recompute) {
    case Recompute::kNone:
      return {};
    case Recompute::kSelective:
      return context.repeats.attention ? attention_to_repeat(forward, backward)
                                       : std::vector<DraftOperation>();
    case Recompute::kFull:
      return context.repeats.whole_layers ? layer_to_repeat(forward, backward, draft)
                                          : operations_to_repeat(forward, backward);
  }
  SW_CHECK(false, "a known recomputation");
}

/// Given the gradient of the layer's output, writes its backward and returns that of its input.
std::optional<TensorId> write_backward(LayerWriter& writer, std::optional<TensorId> gradient) {
  const Layer& layer = writer.layer();
  if (layer.output) {
    SW_CHECK(gradient.has_value(), "a gradient of the layer's output");
    writer.add_gradient(*layer.output, *gradient, Ownership::kShared);
  }
  for (std::size_t i = layer.ops.size(); i-- > 0;) {
    rule_of(layer.ops[i].kind).backward(writer, layer.ops[i]);
  }
  return layer.input ? std::optional(writer.take_gradient(*layer.input)) : std::nullopt;
}

void write_backward(const RankContext& context,
                    RankDraft& draft,
                    StageDraft& stage,
                    StageProgram& program) {
  const StagePlan& plan = context.stage(program.stage);
  if (!is_last(context, program.stage)) {
    program.output_gradient = make_output_gradient(context, draft, program.stage);
  }
  std::vector<DraftOperation> ops;
  std::vector<DraftOperation> ahead;
  std::optional<TensorId> gradient;
  if (program.output_gradient) {
    gradient = unpack(context, draft, *program.output_gradient, ops);
  }
  for (std::size_t i = stage.layers.size(); i-- > 0;) {
    LayerWriter& writer = stage.layers[i];
    gradient = write_backward(writer, gradient);
    std::vector<DraftOperation> backward = writer.take_operations();
    const bool apart = context.recomputes_ahead(program.stage);
    const std::vector<DraftOperation> again =
        repeated(context, draft, plan, i, writer.layer().role, stage.forward[i], backward);
    // Recomputed apart from the weight half they would be held until then; frameworks whose
    // checkpoints repeat whole layers gather anew.
    if (!apart && !context.splits_backward && !context.repeats.whole_layers) {
      spare_repeated_gathers(again, backward);
    }
    append(apart ? ahead : ops, again);
    append(ops, std::move(backward));
  }
  if (!is_first(program.stage)) {
    program.input_gradient = context.pipeline.hands_over(before(program.stage))
                                 ? *gradient
                                 : pack(context, draft, *gradient, Cargo::kGradient, ops);
  }
  program.recompute = insert_collectives(ahead, context.tensor.group, draft.program.tensors);
  program.backward = begin_gradients(draft, program.stage);
  const std::vector<Operation> rest =
      insert_collectives(ops, context.tensor.group, draft.program.tensors);
  program.backward.insert(program.backward.end(), rest.begin(), rest.end());
}

}  // namespace

void emit_stages(const RankContext& context, RankDraft& draft) {
  std::vector<StageProgram>& programs = draft.program.stages;
  for (const StageId stage : context.pipeline.stages) {
    programs.emplace_back().stage = stage;
  }
  std::vector<StageDraft> stages;
  stages.reserve(programs.size());
  for (StageProgram& program : programs) {
    stages.push_back(write_forward(context, draft, program));
  }
  for (std::size_t i = programs.size(); i-- > 0;) {
    write_backward(context, draft, stages[i], programs[i]);
  }
}

}  // namespace stagewright
