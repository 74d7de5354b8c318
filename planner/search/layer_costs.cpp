#include "planner/search/layer_costs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/check.h"
#include "core/schedule/lifetimes.h"
#include "planner/lower/lower.h"
#include "planner/search/distinct_layers.h"
#include "planner/search/rank_place.h"
#include "sim/cost/phase_price.h"

namespace stagewright {
namespace {

/// Costs of the examples, by index into the reduced model's layers.
struct Examples {
  std::vector<LayerCost> layers;
  std::vector<Duration> optimizer;
  std::vector<Bytes> gradients;

  explicit Examples(std::size_t count) : layers(count), optimizer(count), gradients(count) {}
};

/// Calls `visit(run, price)` for each layer's contiguous run of `ops`, in order.
template <class Visit>
void for_each_run(const RankProgram& program,
                  const std::vector<Operation>& ops,
                  const RankPlace& place,
                  const CostModel& cost,
                  const Visit& visit) {
  for (std::size_t begin = 0; begin < ops.size();) {
    std::size_t end = begin + 1;
    while (end < ops.size() && ops[end].layer == ops[begin].layer) {
      ++end;
    }
    SW_CHECK(ops[begin].layer.has_value(), "stage operations that name their layer");
    const std::span<const Operation> run = std::span(ops).subspan(begin, end - begin);
    visit(run, price_phase(program, {run}, place, cost));
    begin = end;
  }
}

/// Until the first operation that reads what the layers behind have written.
Duration leading_of(std::span<const Operation> run,
                    const PhasePrice& price,
                    const std::vector<bool>& written) {
  for (const PricedOperation& priced : price.ops) {
    const Operation& op = run[static_cast<std::size_t>(priced.op)];
    if (std::ranges::any_of(op.inputs, [&](TensorId input) { return written[input.index()]; })) {
      return priced.start;
    }
  }
  return Duration{};
}

/// From the end of the last operation that is not a weight gradient.
Duration trailing_of(std::span<const Operation> run, const PhasePrice& price) {
  Duration last{};
  for (const PricedOperation& priced : price.ops) {
    if (!run[static_cast<std::size_t>(priced.op)].weight_gradient) {
      last = std::max(last, priced.start + priced.duration);
    }
  }
  return std::max(Duration{}, price.compute - last);
}

void add_times(const RankProgram& program,
               const RankPlace& place,
               const CostModel& cost,
               Examples& examples) {
  const StageProgram& stage = program.stages.front();
  const auto layer_of = [&](std::span<const Operation> run) -> LayerCost& {
    return examples.layers[run.front().layer->index()];
  };
  for_each_run(program, stage.forward, place, cost, [&](auto run, const PhasePrice& price) {
    layer_of(run).forward += price.compute;
  });
  std::vector<bool> written(program.tensors.size(), false);
  for_each_run(program, stage.backward, place, cost, [&](auto run, const PhasePrice& price) {
    LayerCost& layer = layer_of(run);
    layer.backward += price.compute;
    layer.leading = leading_of(run, price, written);
    layer.trailing = trailing_of(run, price);
    for (const Operation& op : run) {
      for (const TensorId output : op.outputs) {
        written[output.index()] = true;
      }
    }
  });
}

/// Which layer's operations use each persistent tensor first, views resolved to their own entry.
std::vector<std::optional<LayerId>> owners(const RankProgram& program) {
  std::vector<std::optional<LayerId>> owner(program.tensors.size());
  const auto claim = [&](const Operation& op) {
    for (const auto* operands : {&op.inputs, &op.outputs}) {
      for (const TensorId tensor : *operands) {
        if (!owner[tensor.index()]) {
          owner[tensor.index()] = op.layer;
        }
      }
    }
  };
  const StageProgram& stage = program.stages.front();
  std::for_each(stage.forward.begin(), stage.forward.end(), claim);
  std::for_each(stage.backward.begin(), stage.backward.end(), claim);
  // Optimizer operations tie moments and masters to the parameter that they update.
  for (const Operation& op : program.optimizer_step) {
    if (op.kind == OpKind::kAdamWStep || op.kind == OpKind::kSgdStep) {
      for (const TensorId tensor : op.outputs) {
        owner[tensor.index()] = owner[op.outputs.front().index()];
      }
    }
  }
  return owner;
}

void add_state(const RankProgram& program,
               const std::vector<std::optional<LayerId>>& owner,
               Examples& examples) {
  for (std::size_t i = 0; i < program.tensors.size(); ++i) {
    const TensorSpec& tensor = program.tensors[i];
    if (tensor.scope != TensorScope::kPersistent || !owner[i]) {
      continue;
    }
    const std::size_t layer = owner[i]->index();
    if (tensor.tensor_class == TensorClass::kGradient) {
      examples.gradients[layer] += tensor.bytes();
    }
    if (tensor.tensor_class != TensorClass::kInput) {
      examples.layers[layer].state += tensor.bytes();
    }
  }
}

/// What a micro-batch keeps between its forward and its backward belongs to the layer whose
/// backward uses it last.
void add_saved(const RankProgram& program, Examples& examples) {
  std::optional<std::int32_t> backward;
  for (std::size_t i = 0; i < program.actions.size(); ++i) {
    if (program.actions[i].kind == ActionKind::kBackward) {
      backward = static_cast<std::int32_t>(i);
    }
  }
  SW_CHECK(backward.has_value(), "a backward in the example's list");
  for (const Lifetime& lifetime : lifetimes(program)) {
    if (lifetime.micro_batch && lifetime.first.action < *backward &&
        lifetime.last.action == *backward) {
      const auto& op = program.stages.front().backward[static_cast<std::size_t>(lifetime.last.op)];
      examples.layers[op.layer->index()].saved += lifetime.bytes;
    }
  }
}

void add_optimizer(const RankProgram& program,
                   const std::vector<std::optional<LayerId>>& owner,
                   const RankPlace& place,
                   const CostModel& cost,
                   Examples& examples) {
  for (const Operation& op : program.optimizer_step) {
    if (op.kind != OpKind::kAdamWStep && op.kind != OpKind::kSgdStep) {
      continue;
    }
    if (const auto layer = owner[op.outputs.front().index()]) {
      examples.optimizer[layer->index()] += cost.operation(op, *place.device).time;
    }
  }
}

std::int64_t elements_of(const LayerWeight& weight) {
  std::int64_t total = 0;
  for (const ModelParameter& parameter : weight.parameters) {
    std::int64_t elements = 1;
    for (const std::int64_t extent : parameter.shape) {
      elements *= extent;
    }
    total += elements;
  }
  return total;
}

/// State of the tied weights of a layer, as their share of its parameters.
Bytes tied_state(const Layer& layer, Bytes state) {
  std::int64_t tied = 0;
  std::int64_t all = 0;
  for (const LayerWeight& weight : layer.weights) {
    const std::int64_t elements = elements_of(weight);
    all += elements;
    tied += weight.tied_to ? elements : 0;
  }
  return all == 0 ? Bytes{}
                  : Bytes(static_cast<std::int64_t>(static_cast<double>(state.count()) *
                                                    static_cast<double>(tied) /
                                                    static_cast<double>(all)));
}

/// Bytes of the value between two layers.
Bytes border_of(const ModelGraph& model, const Plan& shape) {
  for (const Layer& layer : model.layers) {
    if (layer.output) {
      return layer.values[layer.output->index()].width * shape.micro_batch_size * shape.sequence *
             size_of(shape.precision.transfer.value_or(shape.precision.compute));
    }
  }
  return Bytes{};
}

}  // namespace

Result<LayerCosts> layer_costs(const ModelGraph& model,
                               const Cluster& cluster,
                               const CostModel& cost,
                               const Plan& shape) {
  DistinctLayers distinct = distinct_layers(model);
  // A tied weight is a copy of its own on any stage but the one that holds both.
  for (Layer& layer : distinct.reduced.layers) {
    for (LayerWeight& weight : layer.weights) {
      weight.tied_to.reset();
    }
  }
  const std::size_t count = distinct.reduced.layers.size();
  Plan plan = shape;
  plan.model_hash.clear();
  plan.micro_batches = 1;
  plan.schedule = "1f1b";
  plan.stages.resize(1);
  plan.stages.front().first_layer = 0;
  plan.stages.front().layers = static_cast<std::int32_t>(count);
  plan.stages.front().dp = 1;
  auto schedule = lower(distinct.reduced, cluster, plan);
  if (!schedule) {
    return pass_on(std::move(schedule));
  }
  auto place = place_of(*schedule, cluster, RankId(0));
  if (!place) {
    return pass_on(std::move(place));
  }
  const RankProgram& program = schedule->programs[schedule->ranks.front().program.index()];
  Examples examples(count);
  add_times(program, *place, cost, examples);
  const auto owner = owners(program);
  add_state(program, owner, examples);
  add_saved(program, examples);
  add_optimizer(program, owner, *place, cost, examples);

  LayerCosts result;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const std::size_t example = distinct.example_of[i];
    result.layers.push_back(examples.layers[example]);
    result.optimizer.push_back(examples.optimizer[example]);
    result.gradients.push_back(examples.gradients[example]);
    result.tied += tied_state(model.layers[i], examples.layers[example].state);
  }
  result.border = border_of(model, shape);
  return result;
}

}  // namespace stagewright
