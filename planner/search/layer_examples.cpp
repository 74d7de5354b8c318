#include "planner/search/layer_examples.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/base/check.h"
#include "core/schedule/lifetimes.h"
#include "planner/lower/lower.h"
#include "planner/search/rank_place.h"

namespace stagewright {
namespace {

/// By index into the reduced model's layers.
using Examples = std::vector<LayerCost>;

Result<ExampleRank> example_rank(const ModelGraph& examples,
                                 const Cluster& cluster,
                                 const CostModel& cost,
                                 const Plan& plan) {
  auto schedule = lower_to_price(examples, cluster, plan);
  if (!schedule) {
    return pass_on(std::move(schedule));
  }
  auto place = place_of(*schedule, cluster, RankId(0), cost);
  if (!place) {
    return pass_on(std::move(place));
  }
  return ExampleRank{*std::move(schedule), *std::move(place)};
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

Examples lasting_costs(const ExampleRank& whole,
                       const ExampleRank& split,
                       const CostModel& cost,
                       std::size_t count) {
  Examples examples(count);
  const RankProgram& program = whole.program();
  const auto owner = owners(program);
  add_state(program, owner, examples);
  add_saved(program, examples);
  add_waiting(split.program(), examples);
  const auto backward = working(program, ActionKind::kBackward, examples);
  const auto input = working(split.program(), ActionKind::kBackwardInput, examples);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    examples[i].working = backward[i];
    examples[i].input_working = input[i];
  }
  add_optimizer(program, owner, whole.place, cost, examples);
  return examples;
}

}  // namespace

DistinctLayers example_layers(const ModelGraph& model) {
  DistinctLayers distinct = distinct_layers(model);
  // A tied weight is a copy of its own on any stage but the one that holds both.
  for (Layer& layer : distinct.reduced.layers) {
    for (LayerWeight& weight : layer.weights) {
      weight.tied_to.reset();
    }
  }
  return distinct;
}

Result<LayerExamples> layer_examples(const DistinctLayers& distinct,
                                     const Cluster& cluster,
                                     const CostModel& cost,
                                     const Plan& shape) {
  const std::size_t count = distinct.reduced.layers.size();
  Plan plan = shape;
  plan.micro_batches = 1;
  plan.schedule = "1f1b";
  plan.stages.resize(1);
  plan.stages.front().first_layer = 0;
  plan.stages.front().layers = static_cast<std::int32_t>(count);
  plan.stages.front().dp = 1;
  auto whole = example_rank(distinct.reduced, cluster, cost, plan);
  if (!whole) {
    return pass_on(std::move(whole));
  }
  plan.schedule = "zb-h1";  // its backwards are split
  auto split = example_rank(distinct.reduced, cluster, cost, plan);
  if (!split) {
    return pass_on(std::move(split));
  }
  LayerExamples examples{.whole = *std::move(whole), .split = *std::move(split), .costs = {}};
  examples.costs = lasting_costs(examples.whole, examples.split, cost, count);
  return examples;
}

}  // namespace stagewright
