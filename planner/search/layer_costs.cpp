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

/// A rank that holds one example of each layer and runs one micro-batch.
struct ExampleRank {
  Schedule schedule;
  RankPlace place;

  [[nodiscard]] const RankProgram& program() const {
    return schedule.programs[schedule.ranks.front().program.index()];
  }
};

Result<ExampleRank> example_rank(const ModelGraph& examples,
                                 const Cluster& cluster,
                                 const CostModel& cost,
                                 const Plan& plan,
                                 const std::optional<GroupGeometry>& tensor) {
  auto schedule = lower(examples, cluster, plan);
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
  return ExampleRank{*std::move(schedule), *std::move(place)};
}

/// Calls `visit(run)` for each layer's contiguous run of `ops`, in order.
template <class Visit>
void for_each_run(const std::vector<Operation>& ops, const Visit& visit) {
  for (std::size_t begin = 0; begin < ops.size();) {
    std::size_t end = begin + 1;
    while (end < ops.size() && ops[end].layer == ops[begin].layer) {
      ++end;
    }
    SW_CHECK(ops[begin].layer.has_value(), "stage operations that name their layer");
    visit(std::span(ops).subspan(begin, end - begin));
    begin = end;
  }
}

/// Until the first operation that computes with what the layers behind have written, or holds up
/// computation for it.
Duration leading_of(std::span<const Operation> run,
                    const PhasePrice& price,
                    std::vector<bool> written) {
  for (const PricedOperation& priced : price.ops) {
    const Operation& op = run[static_cast<std::size_t>(priced.op)];
    if (std::ranges::none_of(op.inputs, [&](TensorId input) { return written[input.index()]; })) {
      continue;
    }
    if (!op.group || priced.blocks) {
      return priced.start;
    }
    for (const TensorId output : op.outputs) {
      written[output.index()] = true;
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

/// Collectives that read only what was saved (inputs gathered again) may run before a layer's
/// backward begins, where they do not hold up the computation.
struct Early {
  Duration all{};
  Duration waited{};  ///< by so much the computation may be shorter
};
Early early_of(std::span<const Operation> run, const PhasePrice& price, std::vector<bool> written) {
  Duration early{};
  for (const PricedOperation& priced : price.ops) {
    const Operation& op = run[static_cast<std::size_t>(priced.op)];
    const bool waits =
        std::ranges::any_of(op.inputs, [&](TensorId input) { return written[input.index()]; });
    if (op.group && !priced.blocks && !waits) {
      early += priced.duration;
    } else {
      for (const TensorId output : op.outputs) {
        written[output.index()] = true;
      }
    }
  }
  Duration exposed{};
  for (const auto& [kind, time] : price.exposed) {
    exposed += time;
  }
  return {early, std::min(early, exposed)};
}

void mark_outputs(std::span<const Operation> run, std::vector<bool>& written) {
  for (const Operation& op : run) {
    for (const TensorId output : op.outputs) {
      written[output.index()] = true;
    }
  }
}

void add_times(const ExampleRank& rank, const CostModel& cost, Examples& examples) {
  const RankProgram& program = rank.program();
  const StageProgram& stage = program.stages.front();
  for_each_run(stage.forward, [&](std::span<const Operation> run) {
    examples[run.front().layer->index()].forward +=
        price_phase(program, {run}, rank.place, cost).compute;
  });
  std::vector<bool> written(program.tensors.size(), false);
  for_each_run(stage.backward, [&](std::span<const Operation> run) {
    const PhasePrice price = price_phase(program, {run}, rank.place, cost);
    const Early early = early_of(run, price, written);
    LayerCost& layer = examples[run.front().layer->index()];
    layer.backward += price.compute - early.waited;
    layer.leading = leading_of(run, price, written);
    layer.trailing = trailing_of(run, price) + early.all - early.waited;
    mark_outputs(run, written);
  });
}

void add_times_of_halves(const ExampleRank& rank, const CostModel& cost, Examples& examples) {
  using Half = ActionOperations::Half;
  const RankProgram& program = rank.program();
  std::vector<bool> written(program.tensors.size(), false);
  for_each_run(program.stages.front().backward, [&](std::span<const Operation> run) {
    const PhasePrice input = price_phase(program, {run, Half::kInput}, rank.place, cost);
    const PhasePrice weight = price_phase(program, {run, Half::kWeight}, rank.place, cost);
    LayerCost& layer = examples[run.front().layer->index()];
    layer.input += input.compute - early_of(run, input, written).waited;
    layer.weight += weight.compute - early_of(run, weight, written).waited;
    layer.input_leading = leading_of(run, input, written);
    mark_outputs(run, written);
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

std::int32_t index_of(const RankProgram& program, ActionKind kind) {
  const auto found = std::ranges::find(program.actions, kind, &Action::kind);
  SW_CHECK(found != program.actions.end(), "a backward in the example's list");
  return static_cast<std::int32_t>(found - program.actions.begin());
}

/// What a micro-batch keeps between its forward and its backward belongs to the layer whose
/// backward uses it last.
void add_saved(const RankProgram& program, Examples& examples) {
  const std::int32_t backward = index_of(program, ActionKind::kBackward);
  const std::vector<Operation>& ops = program.stages.front().backward;
  for (const Lifetime& lifetime : lifetimes(program)) {
    if (lifetime.micro_batch && lifetime.first.action < backward &&
        lifetime.last.action == backward) {
      const Operation& last = ops[static_cast<std::size_t>(lifetime.last.op)];
      examples[last.layer->index()].saved += lifetime.bytes;
    }
  }
}

/// What waits for the weight half of a backward.
void add_waiting(const RankProgram& program, Examples& examples) {
  const std::int32_t input = index_of(program, ActionKind::kBackwardInput);
  const std::int32_t weight = index_of(program, ActionKind::kBackwardWeight);
  const std::vector<Operation>& ops = program.stages.front().backward;
  for (const Lifetime& lifetime : lifetimes(program)) {
    if (!lifetime.micro_batch || lifetime.first.action > input || lifetime.last.action != weight) {
      continue;
    }
    const Operation& last = ops[static_cast<std::size_t>(lifetime.last.op)];
    LayerCost& cost = examples[last.layer->index()];
    (lifetime.first.action < input ? cost.saved_for_weight : cost.pending) += lifetime.bytes;
  }
}

/// By example: most bytes beside what is saved for it and the examples before it, while it goes
/// backward, whole or its input half.  After add_saved().
std::vector<Bytes> working(const RankProgram& program, ActionKind kind, const Examples& examples) {
  const std::int32_t backward = index_of(program, kind);
  const std::vector<Operation>& ops = program.stages.front().backward;
  std::vector<std::int64_t> live(ops.size() + 1, 0);  // differences, then sums
  for (const Lifetime& lifetime : lifetimes(program)) {
    if (!lifetime.micro_batch || lifetime.last.action < backward ||
        lifetime.first.action > backward) {
      continue;
    }
    const auto first = lifetime.first.action < backward
                           ? std::size_t{0}
                           : static_cast<std::size_t>(lifetime.first.op);
    // What waits for a weight half is gone earlier where some backwards are left whole.
    const auto behind = static_cast<std::size_t>(lifetime.last.op) + 1;
    live[first] += lifetime.bytes.count();
    live[behind] -= lifetime.bytes.count();
  }
  std::vector<std::int64_t> peaks(examples.size(), 0);
  std::int64_t now = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    now += live[i];
    if (kind == ActionKind::kBackward || !ops[i].weight_gradient) {
      std::int64_t& peak = peaks[ops[i].layer->index()];
      peak = std::max(peak, now);
    }
  }
  std::vector<Bytes> result;
  std::int64_t saved = 0;
  for (std::size_t layer = 0; layer < examples.size(); ++layer) {
    saved += examples[layer].saved.count();
    result.emplace_back(std::max<std::int64_t>(0, peaks[layer] - saved));
  }
  return result;
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

/// Bytes that a rank has of the value between two layers.
Bytes border_of(const ModelGraph& model, const Plan& shape) {
  for (const Layer& layer : model.layers) {
    if (layer.output) {
      const std::int64_t members = shape.sequence_parallel ? shape.stages.front().tp : 1;
      return layer.values[layer.output->index()].width * shape.micro_batch_size * shape.sequence /
             members * size_of(shape.precision.transfer.value_or(shape.precision.compute));
    }
  }
  return Bytes{};
}

void add_examples(const ExampleRank& rank,
                  const ExampleRank& split,
                  const CostModel& cost,
                  Examples& examples) {
  const RankProgram& program = rank.program();
  add_times(rank, cost, examples);
  add_times_of_halves(split, cost, examples);
  const auto owner = owners(program);
  add_state(program, owner, examples);
  add_saved(program, examples);
  add_waiting(split.program(), examples);
  const auto whole = working(program, ActionKind::kBackward, examples);
  const auto input = working(split.program(), ActionKind::kBackwardInput, examples);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    examples[i].working = whole[i];
    examples[i].input_working = input[i];
  }
  add_optimizer(program, owner, rank.place, cost, examples);
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
  const auto rank = example_rank(distinct.reduced, cluster, cost, plan, tensor);
  if (!rank) {
    return tl::unexpected<Error>(rank.error());
  }
  plan.schedule = "zb-h1";  // its backwards are split
  const auto split = example_rank(distinct.reduced, cluster, cost, plan, tensor);
  if (!split) {
    return tl::unexpected<Error>(split.error());
  }
  Examples examples(count);
  add_examples(*rank, *split, cost, examples);

  LayerCosts result;
  result.before.emplace_back();
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const LayerCost& example = examples[distinct.example_of[i]];
    result.layers.push_back(example);
    LayerCost sum = result.before.back();
    result.before.push_back(sum += example);
    result.longest = std::max(result.longest, example.time());
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
