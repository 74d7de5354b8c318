#include "planner/search/layer_costs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/check.h"
#include "core/base/longest_time.h"
#include "planner/lower/rank_draft.h"
#include "planner/search/layer_examples.h"
#include "sim/cost/phase_price.h"

namespace stagewright {
namespace {

/// Costs of the examples, by index into the reduced model's layers.
using Examples = std::vector<LayerCost>;

/// The example's place with its tensor group there.
RankPlace moved(const ExampleRank& rank, const std::optional<GroupGeometry>& tensor) {
  RankPlace place = rank.place;
  for (std::size_t slot = 0; tensor && slot < place.groups.size(); ++slot) {
    if (place.group_kinds[slot] == "tensor") {
      place.groups[slot] = *tensor;
    }
  }
  return place;
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

/// Returns the seconds of the longest phase, which may be more than its duration can say.
double add_times(const ExampleRank& rank,
                 const RankPlace& place,
                 const CostModel& cost,
                 Examples& examples) {
  const RankProgram& program = rank.program();
  const StageProgram& stage = program.stages.front();
  double longest = 0;
  for_each_run(stage.forward, [&](std::span<const Operation> run) {
    const PhasePrice price = price_phase(program, {run}, place, cost);
    longest = std::max(longest, price.seconds);
    examples[run.front().layer->index()].forward += price.compute;
  });
  std::vector<bool> written(program.tensors.size(), false);
  for_each_run(stage.backward, [&](std::span<const Operation> run) {
    const PhasePrice price = price_phase(program, {run}, place, cost);
    longest = std::max(longest, price.seconds);
    const Early early = early_of(run, price, written);
    LayerCost& layer = examples[run.front().layer->index()];
    layer.backward += price.compute - early.waited;
    layer.leading = leading_of(run, price, written);
    layer.trailing = trailing_of(run, price) + early.all - early.waited;
    mark_outputs(run, written);
  });
  return longest;
}

void add_times_of_halves(const ExampleRank& rank,
                         const RankPlace& place,
                         const CostModel& cost,
                         Examples& examples) {
  using Half = ActionOperations::Half;
  const RankProgram& program = rank.program();
  std::vector<bool> written(program.tensors.size(), false);
  for_each_run(program.stages.front().backward, [&](std::span<const Operation> run) {
    const PhasePrice input = price_phase(program, {run, Half::kInput}, place, cost);
    const PhasePrice weight = price_phase(program, {run, Half::kWeight}, place, cost);
    LayerCost& layer = examples[run.front().layer->index()];
    layer.input += input.compute - early_of(run, input, written).waited;
    layer.weight += weight.compute - early_of(run, weight, written).waited;
    layer.input_leading = leading_of(run, input, written);
    mark_outputs(run, written);
  });
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

/// What tied weights take of a layer's state, by their share of its parameters; all of its update.
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
    part.optimizer = tied > 0 ? cost.optimizer : Duration{};
  }
  return part;
}

/// Bytes that a rank has of the narrowest value between two layers.
Bytes border_of(const ModelGraph& model, const Plan& shape) {
  std::optional<std::int64_t> narrowest;
  for (const Layer& layer : model.layers) {
    if (layer.output) {
      const std::int64_t width = layer.values[layer.output->index()].width;
      narrowest = std::min(narrowest.value_or(width), width);
    }
  }
  const std::int64_t members = shape.sequence_parallel ? shape.stages.front().tp : 1;
  return narrowest.value_or(0) * shape.micro_batch_size * shape.sequence / members *
         size_of(shape.precision.transfer.value_or(storage_type(shape.precision.compute)));
}

/// Of one micro-batch on all layers, and their optimizer.
double total_seconds(const std::vector<std::size_t>& example_of, const Examples& examples) {
  double seconds = 0;
  for (const std::size_t i : example_of) {
    const LayerCost& layer = examples[i];
    for (const Duration time :
         {layer.forward, layer.backward, layer.input, layer.weight, layer.optimizer}) {
      seconds += to_seconds(time);
    }
  }
  return seconds;
}

/// Fills in all but `border`.
LayerCosts all_layers(const ModelGraph& model,
                      const DistinctLayers& distinct,
                      const Examples& examples) {
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
  result.alike_until.resize(model.layers.size());
  for (std::size_t i = model.layers.size(); i-- > 0;) {
    const bool last =
        i + 1 == model.layers.size() || distinct.example_of[i] != distinct.example_of[i + 1];
    result.alike_until[i] = last ? i + 1 : result.alike_until[i + 1];
  }
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const auto alike = std::ranges::count(distinct.example_of, i);
    if (alike * examples[i].time() > result.repeated * result.each.time()) {
      result.repeated = alike;
      result.each = examples[i];
    }
  }
  return result;
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
                               const Plan& shape) {
  const DistinctLayers distinct = example_layers(model);
  const auto examples = layer_examples(distinct, cluster, cost, shape);
  if (!examples) {
    return tl::unexpected<Error>(examples.error());
  }
  return layer_costs(model, distinct, *examples, cost, shape, std::nullopt);
}

Result<LayerCosts> layer_costs(const ModelGraph& model,
                               const DistinctLayers& distinct,
                               const LayerExamples& lowered,
                               const CostModel& cost,
                               const Plan& shape,
                               const std::optional<GroupGeometry>& tensor) {
  Examples examples = lowered.costs;
  const double longest = add_times(lowered.whole, moved(lowered.whole, tensor), cost, examples);
  add_times_of_halves(lowered.split, moved(lowered.split, tensor), cost, examples);
  if (std::max(longest, total_seconds(distinct.example_of, examples)) > kLongestSeconds) {
    return fail(ErrorCode::kUnsupported,
                "one micro-batch takes more than the 46 days that are supported; check the rates "
                "of devices and links");
  }
  LayerCosts result = all_layers(model, distinct, examples);
  result.border = border_of(model, shape);
  return result;
}

}  // namespace stagewright
