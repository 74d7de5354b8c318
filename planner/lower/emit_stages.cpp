#include "planner/lower/emit_stages.h"

#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "planner/lower/layer_writer.h"
#include "planner/lower/recompute.h"
#include "planner/lower/rules/rules.h"

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

TensorId add_border(const RankContext& context,
                    RankDraft& draft,
                    std::string name,
                    ValueId value,
                    const Layer& layer) {
  return draft.add_tensor({.name = std::move(name),
                           .dtype = storage_type(context.plan->precision.compute),
                           .shape = {context.rows(), layer.values[value.index()].width},
                           .tensor_class = TensorClass::kCommunication,
                           .scope = TensorScope::kMicroBatch,
                           .view = std::nullopt});
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
  return add_border(
      context, draft, fmt::format("stage.{}.input", stage.value()), *first.input, first);
}

/// The gradient of the stage's output: received, or the other stage's own input gradient.
TensorId make_output_gradient(const RankContext& context, RankDraft& draft, StageId stage) {
  if (context.pipeline.hands_over(stage)) {
    return *draft.program.stage(after(stage)).input_gradient;
  }
  const StagePlan& plan = context.stage(stage);
  const Layer& last = context.layer(LayerId(plan.first_layer + plan.layers - 1));
  return add_border(
      context, draft, fmt::format("stage.{}.output.grad", stage.value()), *last.output, last);
}

void mark_as_sent(RankDraft& draft, TensorId tensor) {
  draft.program.tensors[tensor.index()].tensor_class = TensorClass::kCommunication;
}

StageDraft write_forward(const RankContext& context, RankDraft& draft, StageProgram& program) {
  const StagePlan& plan = context.stage(program.stage);
  program.input = make_input(context, draft, program.stage);
  StageDraft stage;
  std::optional<TensorId> tensor = program.input;
  std::vector<DraftOperation> ops;
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
    program.output = tensor;
    if (!context.pipeline.hands_over(program.stage)) {
      mark_as_sent(draft, *tensor);
    }
  }
  program.forward = insert_collectives(ops, context.tensor.group, draft.program.tensors);
  return stage;
}

/// Embedding and head save little that a second forward would spare.
bool recomputes(const StagePlan& plan, std::size_t layer, LayerRole role) {
  return plan.recompute == Recompute::kFull && role == LayerRole::kBlock &&
         static_cast<std::int32_t>(layer) < plan.recompute_layers.value_or(plan.layers);
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
  std::optional<TensorId> gradient = program.output_gradient;
  std::vector<DraftOperation> ops;
  for (std::size_t i = stage.layers.size(); i-- > 0;) {
    LayerWriter& writer = stage.layers[i];
    gradient = write_backward(writer, gradient);
    std::vector<DraftOperation> backward = writer.take_operations();
    if (recomputes(plan, i, writer.layer().role)) {
      append(ops, operations_to_repeat(stage.forward[i], backward));
    }
    append(ops, std::move(backward));
  }
  if (!is_first(program.stage)) {
    program.input_gradient = gradient;
    if (!context.pipeline.hands_over(before(program.stage))) {
      mark_as_sent(draft, *gradient);
    }
  }
  program.backward = insert_collectives(ops, context.tensor.group, draft.program.tensors);
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
