#include "sim/memory/step_memory.h"

#include <algorithm>
#include <cmath>

#include "sim/memory/in_flight.h"
#include "sim/memory/layer_activations.h"
#include "sim/memory/rank_layers.h"
#include "sim/memory/stage_parameters.h"

namespace stagewright {
namespace {

constexpr double kMega = 1e6;

Bytes rounded(double bytes) {
  return Bytes(std::llround(bytes));
}

double count_of(Bytes bytes) {
  return static_cast<double>(bytes.count());
}

/// What all stages have in common: of one layer, per rank.
struct LayerFigures {
  StageParameters parameters;
  double kept = 0;     ///< bytes per token for the backward
  double working = 0;  ///< bytes per token while it goes backward
  double norm = 0;     ///< bytes per token of the final norm
  double width = 0;    ///< of the residual stream
};

/// Adds a layer's share of the encoder's, per token of the decoder.
void add_encoder(LayerFigures& layer, const TrainingRun& run, const FrameworkProfile& framework) {
  const TrainingRun encoder = encoder_of(run);
  const double tokens = static_cast<double>(encoder.sequence) / static_cast<double>(run.sequence);
  const double share =
      static_cast<double>(encoder.shape.layers) / static_cast<double>(run.shape.layers);
  layer.kept += share * tokens * kept_activations(encoder, framework);
  layer.working = std::max(layer.working,
                           tokens * (recomputed_activations(encoder, framework) +
                                     activation_gradients(encoder, framework)));
}

LayerFigures layer_figures(const TrainingSetup& setup) {
  const TrainingRun& run = setup.run;
  const FrameworkProfile& framework = setup.framework;
  const double width =
      static_cast<double>(run.shape.hidden) / (sequence_is_divided(run, framework) ? run.tp : 1);
  LayerFigures layer{
      .parameters = layer_parameters(run, framework),
      .kept = kept_activations(run, framework),
      .working = recomputed_activations(run, framework) + activation_gradients(run, framework),
      .norm = 2 * width + norm_output_bytes(run, framework),
      .width = width};
  if (run.encoder) {
    add_encoder(layer, run, framework);
  }
  return layer;
}

/// Bytes per parameter before sharding, as the run's number format and options make them.
StateBytes state_bytes(const TrainingSetup& setup) {
  const TrainingRun& run = setup.run;
  const FrameworkMemory& memory = setup.framework.memory;
  StateBytes state = memory.bf16;
  if (run.format == MatrixFormat::kFloat32 || run.format == MatrixFormat::kTf32) {
    state = memory.fp32;
  } else if (run.format == MatrixFormat::kFloat16 || run.half_precision) {
    state = memory.fp16;
  }
  if (run.gradient_32 && *run.gradient_32 != setup.framework.gradient_32) {
    // fp32 sums are a buffer beside the gradients that backward writes; without them these are all.
    state.gradient = *run.gradient_32 ? state.gradient + Bytes(4) : state.weight;
  }
  if (run.master_weights && !*run.master_weights) {
    state.master = Bytes{};
  }
  return state;
}

/// Parameters of a rank whose state, gradient or weight it keeps under the ZeRO stage.
struct Shards {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;
};

Shards shards_of(const TrainingSetup& setup, const StageParameters& parameters) {
  const TrainingRun& run = setup.run;
  const double replicas = static_cast<double>(run.dp) * run.cp;
  const double group = run.shard_group > 0 ? std::min<double>(run.shard_group, replicas) : replicas;
  const double expert_group = expert_replicas(run, setup.framework);
  const double whole = parameters.dense + parameters.expert;
  const double divided = parameters.dense / group + parameters.expert / expert_group;
  return {.weights = run.zero_stage >= 3 ? divided : whole,
          .gradients = run.zero_stage >= 2 ? divided : whole,
          .optimizer = run.zero_stage >= 1 ? divided : whole};
}

double logit_bytes(const TrainingSetup& setup) {
  const FrameworkMemory& memory = setup.framework.memory;
  if (setup.run.fused_loss.value_or(false) && memory.fused_logit) {
    return count_of(*memory.fused_logit);
  }
  if (setup.run.compiled.value_or(false) && memory.compiled_logit) {
    return count_of(*memory.compiled_logit);
  }
  return count_of(memory.logit);
}

double logits_of(const TrainingSetup& setup, std::int32_t stage) {
  const TrainingRun& run = setup.run;
  const double columns = padded_vocabulary(run, setup.framework) / run.tp;
  // A loss that waits for its backward keeps the softmax in fp32, or less where less is needed.
  constexpr double kWaiting = 4;
  const double largest = logit_bytes(setup);
  const double all = tokens_of(run) * columns *
                     (largest + (losses_in_flight(run) - 1) * std::min(largest, kWaiting));
  switch (run.vocabulary_placement) {
    case VocabularyPlacement::kEnds:
    case VocabularyPlacement::kRedistributed:
      return stage == run.pp - 1 ? all : 0;
    case VocabularyPlacement::kAllStages:
    case VocabularyPlacement::kAllStagesOnce:
    case VocabularyPlacement::kInterlaced:
      return all / run.pp;
  }
  return all;
}

/// What ZeRO-3 holds whole at once.  By default the weights of this layer, and those of the next
/// twice (as gathered, and copied out of the buffer); gradients of this layer, and those of the
/// last one as they are reduced; the embedding and output layer, which stay gathered, with
/// gradients.
double gathered_of(const TrainingSetup& setup,
                   const StageParameters& layer,
                   const StageParameters& parameters) {
  const TrainingRun& run = setup.run;
  if (run.zero_stage < 3 || run.dp * run.cp == 1) {
    return 0;
  }
  constexpr double kElement = 2;
  const double whole = parameters.dense + parameters.expert;
  if (setup.framework.memory.live_parameters) {
    return kElement * std::min(whole, static_cast<double>(*setup.framework.memory.live_parameters));
  }
  const double reduced = run.gradient_32.value_or(setup.framework.gradient_32) ? 4 : kElement;
  const double layers = (4 * kElement + reduced) * (layer.dense + layer.expert);
  return layers + (kElement + reduced) * parameters.root;
}

/// Kinds of groups that a rank talks in; each has communicators of its own.
int communicator_kinds(const TrainingRun& run) {
  const std::array<bool, 6> kinds = {run.tp > 1,
                                     run.dp > 1,
                                     run.pp > 1,
                                     run.cp > 1,
                                     run.ep > 1,
                                     run.pp > 1 && run.shape.tied_embeddings};
  return static_cast<int>(std::ranges::count(kinds, true));
}

MemoryConstant reserve_of(AllocatorUse use) {
  switch (use) {
    case AllocatorUse::kExpandable:
      return MemoryConstant::kExpandableReserve;
    case AllocatorUse::kCaching:
      return MemoryConstant::kCachingReserve;
    case AllocatorUse::kFragmenting:
      return MemoryConstant::kFragmentingReserve;
  }
  return MemoryConstant::kCachingReserve;
}

void add_backward(const TrainingSetup& setup,
                  const LayerFigures& layer,
                  const StageParameters& parameters,
                  StageMemory& memory) {
  const TrainingRun& run = setup.run;
  const double tokens = tokens_of(run);
  const auto layers = static_cast<double>(layers_on_rank(run, setup.framework, memory.stage));
  double kept = in_flight(run, memory.stage) * layers * tokens * layer.kept;
  if (memory.stage == run.pp - 1) {
    kept += losses_in_flight(run) * tokens * layer.norm;
  }
  memory[MemoryTerm::kActivations] = rounded(kept);
  // The loss is over before the first layer goes backward.
  const double logits = logits_of(setup, memory.stage);
  const double working = tokens * layer.working;
  memory[logits >= working ? MemoryTerm::kLogits : MemoryTerm::kWorkingSet] =
      rounded(std::max(logits, working));
  memory[MemoryTerm::kGathered] = rounded(gathered_of(setup, layer.parameters, parameters));
  memory[MemoryTerm::kTransfers] = rounded(run.pp > 1 ? 4 * tokens * layer.width : 0);
}

Bytes sum(const StageMemory& memory, std::initializer_list<MemoryTerm> terms) {
  Bytes total{};
  for (const MemoryTerm term : terms) {
    total += memory[term];
  }
  return total;
}

constexpr std::initializer_list<MemoryTerm> kComeAndGo = {MemoryTerm::kStepBuffers,
                                                          MemoryTerm::kActivations,
                                                          MemoryTerm::kWorkingSet,
                                                          MemoryTerm::kLogits,
                                                          MemoryTerm::kGathered,
                                                          MemoryTerm::kTransfers};

StageMemory memory_of(const TrainingSetup& setup,
                      const MemoryConstants& constants,
                      const LayerFigures& layer,
                      std::int32_t stage) {
  const FrameworkMemory& framework = setup.framework.memory;
  const StageParameters parameters =
      stage_parameters(setup.run, setup.framework, layer.parameters, stage);
  const Shards shards = shards_of(setup, parameters);
  const StateBytes state = state_bytes(setup);
  StageMemory memory;
  memory.stage = stage;
  add_backward(setup, layer, parameters, memory);
  const Bytes step = rounded(shards.optimizer * count_of(framework.step));
  if (step > sum(memory, kComeAndGo)) {
    for (const MemoryTerm term : kComeAndGo) {
      memory[term] = Bytes{};
    }
    memory.moment = MemoryMoment::kOptimizerStep;
    memory[MemoryTerm::kStepBuffers] = step;
  }
  memory[MemoryTerm::kParameters] = rounded(shards.weights * count_of(state.weight));
  memory[MemoryTerm::kGradients] = rounded(shards.gradients * count_of(state.gradient));
  const double offloaded = setup.run.optimizer_offload ? 0 : 1;
  memory[MemoryTerm::kMasterWeights] =
      rounded(offloaded * shards.optimizer * count_of(state.master));
  memory[MemoryTerm::kMoments] = rounded(offloaded * shards.optimizer * count_of(state.moments));
  memory[MemoryTerm::kBuckets] = setup.run.dp > 1 ? framework.buckets : Bytes{};
  memory[MemoryTerm::kWorkspace] = rounded(kMega * constants[MemoryConstant::kWorkspaceMegabytes]);
  memory[MemoryTerm::kReserve] =
      rounded(count_of(memory.states()) * (constants[MemoryConstant::kStaticReserve] - 1) +
              count_of(sum(memory, kComeAndGo)) * (constants[reserve_of(framework.allocator)] - 1));
  memory[MemoryTerm::kContext] =
      setup.device.context + rounded(kMega * constants[MemoryConstant::kCommunicatorMegabytes] *
                                     communicator_kinds(setup.run));
  return memory;
}

}  // namespace

std::string_view name_of(MemoryTerm term) {
  static constexpr std::array<std::string_view, kMemoryTermCount> kNames = {
      "parameters",
      "gradients",
      "master weights",
      "optimizer moments",
      "optimizer step buffers",
      "activations",
      "backward working set",
      "logits and loss",
      "gathered parameters",
      "transfer buffers",
      "communication buckets",
      "workspace",
      "allocator reserve",
      "context and communicators",
  };
  return kNames[static_cast<std::size_t>(term)];
}

std::string_view name_of(MemoryMoment moment) {
  switch (moment) {
    case MemoryMoment::kBackward:
      return "backward";
    case MemoryMoment::kOptimizerStep:
      return "optimizer step";
  }
  return {};
}

Bytes StageMemory::seen_as(MemoryView view) const {
  Bytes total{};
  for (const Bytes bytes : terms) {
    total += bytes;
  }
  switch (view) {
    case MemoryView::kAllocated:
      return total - (*this)[MemoryTerm::kReserve] - (*this)[MemoryTerm::kContext];
    case MemoryView::kReserved:
      return total - (*this)[MemoryTerm::kContext];
    case MemoryView::kDriver:
      break;
  }
  return total;
}

Bytes StageMemory::states() const {
  return sum(*this,
             {MemoryTerm::kParameters,
              MemoryTerm::kGradients,
              MemoryTerm::kMasterWeights,
              MemoryTerm::kMoments});
}

MemoryTerm StageMemory::dominant() const {
  const auto end = terms.begin() + static_cast<std::ptrdiff_t>(MemoryTerm::kReserve);
  return static_cast<MemoryTerm>(std::max_element(terms.begin(), end) - terms.begin());
}

StageMemory stage_memory(const TrainingSetup& setup,
                         const MemoryConstants& constants,
                         std::int32_t stage) {
  return memory_of(setup, constants, layer_figures(setup), stage);
}

StageMemory step_memory(const TrainingSetup& setup, const MemoryConstants& constants) {
  const LayerFigures layer = layer_figures(setup);
  StageMemory fullest = memory_of(setup, constants, layer, 0);
  std::int64_t most_layers = -1;
  for (std::int32_t stage = 1; stage < setup.run.pp; ++stage) {
    // Between the ends no stage holds more micro-batches than the one before it, so that only more
    // layers can make it fuller.
    const std::int64_t layers = layers_on_rank(setup.run, setup.framework, stage);
    if (layers <= most_layers && stage < setup.run.pp - 1) {
      continue;
    }
    most_layers = std::max(most_layers, layers);
    const StageMemory memory = memory_of(setup, constants, layer, stage);
    if (memory.seen_as(MemoryView::kDriver) > fullest.seen_as(MemoryView::kDriver)) {
      fullest = memory;
    }
  }
  return fullest;
}

bool fits(const StageMemory& memory, const DeviceType& device) {
  return memory.seen_as(MemoryView::kDriver) <= device.memory;
}

}  // namespace stagewright
