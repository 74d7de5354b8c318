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
using Examples = std::vector<LayerCost>;

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

/// Waiting of the compute stream for other streams.
Duration waits_of(const PhasePrice& price) {
  Duration sum{};
  for (const auto& [kind, time] : price.exposed) {
    sum += time;
  }
  return sum;
}

void add_times(const RankProgram& program,
               const RankPlace& place,
               const CostModel& cost,
               Examples& examples) {
  const StageProgram& stage = program.stages.front();
  const auto layer_of = [&](std::span<const Operation> run) -> LayerCost& {
    return examples[run.front().layer->index()];
  };
  for_each_run(program, stage.forward, place, cost, [&](auto run, const PhasePrice& price) {
    layer_of(run).forward += price.compute;
    layer_of(run).forward_waits += waits_of(price);
  });
  std::vector<bool> written(program.tensors.size(), false);
  for_each_run(program, stage.backward, place, cost, [&](auto run, const PhasePrice& price) {
    using Half = ActionOperations::Half;
    const PhasePrice input = price_phase(program, {run, Half::kInput}, place, cost);
    const PhasePrice weight = price_phase(program, {run, Half::kWeight}, place, cost);
    LayerCost& layer = layer_of(run);
    layer.backward += price.compute;
    layer.backward_waits += std::max(waits_of(price), waits_of(input) + waits_of(weight));
    layer.leading = leading_of(run, price, written);
    layer.trailing = trailing_of(run, price);
    layer.input += input.compute;
    layer.weight += weight.compute;
    layer.input_leading = leading_of(run, input, written);
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
    LayerCost& cost = examples[layer];
    if (tensor.tensor_class == TensorClass::kGradient) {
      cost.gradients += tensor.bytes();
    } else if (tensor.tensor_class == TensorClass::kOptimizer) {
      cost.optimizer_state += tensor.bytes();
    } else if (tensor.tensor_class != TensorClass::kInput) {
      cost.parameters += tensor.bytes();
    }
  }
}

/// By tensor; what a view shows is its base.
std::vector<bool> read_by_weight_gradients(const RankProgram& program) {
  std::vector<bool> read(program.tensors.size(), false);
  for (const Operation& op : program.stages.front().backward) {
    if (!op.weight_gradient) {
      continue;
    }
    for (const TensorId input : op.inputs) {
      const auto& view = program.tensors[input.index()].view;
      read[view ? view->base.index() : input.index()] = true;
    }
  }
  return read;
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
  const std::vector<Operation>& ops = program.stages.front().backward;
  const std::vector<bool> for_weight = read_by_weight_gradients(program);
  for (const Lifetime& lifetime : lifetimes(program)) {
    if (!lifetime.micro_batch || lifetime.last.action != *backward) {
      continue;
    }
    const auto& op = ops[static_cast<std::size_t>(lifetime.last.op)];
    LayerCost& cost = examples[op.layer->index()];
    const bool waits = for_weight[lifetime.tensor.index()];
    if (lifetime.first.action < *backward) {
      cost.saved += lifetime.bytes;
      cost.saved_for_weight += waits ? lifetime.bytes : Bytes{};
    } else if (waits && !ops[static_cast<std::size_t>(lifetime.first.op)].weight_gradient) {
      cost.pending += lifetime.bytes;
    }
  }
}

/// After add_saved().
void add_working(const RankProgram& program, Examples& examples) {
  const std::vector<Operation>& ops = program.stages.front().backward;
  std::vector<std::int64_t> live(ops.size() + 1, 0);  // differences, then sums
  std::int32_t backward = 0;
  for (std::size_t i = 0; i < program.actions.size(); ++i) {
    if (program.actions[i].kind == ActionKind::kBackward) {
      backward = static_cast<std::int32_t>(i);
    }
  }
  for (const Lifetime& lifetime : lifetimes(program)) {
    if (!lifetime.micro_batch || lifetime.last.action < backward ||
        lifetime.first.action > backward) {
      continue;
    }
    const auto first = lifetime.first.action < backward
                           ? std::size_t{0}
                           : static_cast<std::size_t>(lifetime.first.op);
    const auto behind = lifetime.last.action > backward
                            ? ops.size()
                            : static_cast<std::size_t>(lifetime.last.op) + 1;
    live[first] += lifetime.bytes.count();
    live[behind] -= lifetime.bytes.count();
  }
  std::vector<std::int64_t> peaks(examples.size(), 0);
  std::int64_t now = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    now += live[i];
    std::int64_t& peak = peaks[ops[i].layer->index()];
    peak = std::max(peak, now);
  }
  std::int64_t saved = 0;
  for (std::size_t layer = 0; layer < examples.size(); ++layer) {
    saved += examples[layer].saved.count();
    examples[layer].working = Bytes(std::max<std::int64_t>(0, peaks[layer] - saved));
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
      examples[layer->index()].optimizer += cost.operation(op, *place.device).time;
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

/// What tied weights take of a layer's state, by their share of its parameters.
LayerCost tied_part(const Layer& layer, const LayerCost& cost) {
  std::int64_t tied = 0;
  std::int64_t all = 0;
  for (const LayerWeight& weight : layer.weights) {
    const std::int64_t elements = elements_of(weight);
    all += elements;
    tied += weight.tied_to ? elements : 0;
  }
  LayerCost part;
  if (all > 0) {
    const double share = static_cast<double>(tied) / static_cast<double>(all);
    const auto of = [share](Bytes bytes) {
      return Bytes(static_cast<std::int64_t>(static_cast<double>(bytes.count()) * share));
    };
    part.parameters = of(cost.parameters);
    part.gradients = of(cost.gradients);
    part.optimizer_state = of(cost.optimizer_state);
  }
  return part;
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

LayerCost& LayerCost::operator+=(const LayerCost& other) {
  forward += other.forward;
  backward += other.backward;
  leading += other.leading;
  trailing += other.trailing;
  input += other.input;
  weight += other.weight;
  input_leading += other.input_leading;
  forward_waits += other.forward_waits;
  backward_waits += other.backward_waits;
  optimizer += other.optimizer;
  parameters += other.parameters;
  gradients += other.gradients;
  optimizer_state += other.optimizer_state;
  saved += other.saved;
  saved_for_weight += other.saved_for_weight;
  pending += other.pending;
  return *this;
}

LayerCost& LayerCost::operator-=(const LayerCost& other) {
  forward -= other.forward;
  backward -= other.backward;
  leading -= other.leading;
  trailing -= other.trailing;
  input -= other.input;
  weight -= other.weight;
  input_leading -= other.input_leading;
  forward_waits -= other.forward_waits;
  backward_waits -= other.backward_waits;
  optimizer -= other.optimizer;
  parameters -= other.parameters;
  gradients -= other.gradients;
  optimizer_state -= other.optimizer_state;
  saved -= other.saved;
  saved_for_weight -= other.saved_for_weight;
  pending -= other.pending;
  return *this;
}

Result<LayerCosts> layer_costs(const ModelGraph& model,
                               const Cluster& cluster,
                               const CostModel& cost,
                               const Plan& shape,
                               const std::optional<GroupGeometry>& tensor) {
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
  auto place = place_of(*schedule, cluster, RankId(0), cost);
  if (!place) {
    return pass_on(std::move(place));
  }
  for (std::size_t slot = 0; tensor && slot < place->groups.size(); ++slot) {
    if (place->group_kinds[slot] == "tensor") {
      place->groups[slot] = *tensor;
    }
  }
  const RankProgram& program = schedule->programs[schedule->ranks.front().program.index()];
  Examples examples(count);
  add_times(program, *place, cost, examples);
  const auto owner = owners(program);
  add_state(program, owner, examples);
  add_saved(program, examples);
  add_working(program, examples);
  add_optimizer(program, owner, *place, cost, examples);

  LayerCosts result;
  result.before.emplace_back();
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const LayerCost& example = examples[distinct.example_of[i]];
    result.layers.push_back(example);
    LayerCost sum = result.before.back();
    result.before.push_back(sum += example);
    result.longest = std::max(result.longest, example.busy());
    const LayerCost tied = tied_part(model.layers[i], example);
    result.tied += tied;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto alike = std::ranges::count(distinct.example_of, i);
    if (alike * examples[i].time() > result.repeated * result.each.time()) {
      result.repeated = alike;
      result.each = examples[i];
    }
  }
  result.border = border_of(model, shape);
  return result;
}

}  // namespace stagewright
