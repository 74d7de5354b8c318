#include "sim/step/stage_layers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sim/memory/rank_layers.h"

namespace stagewright {
namespace {

/// First and last as given, the rest as even as it goes.
StageLayers with_ends(double total, std::int32_t stages, double first, double last) {
  StageLayers result{.first = first, .last = last};
  if (stages > 2) {
    result.middle_sum = total - first - last;
    result.middle_most = std::ceil(result.middle_sum / (stages - 2));
  }
  return result;
}

/// As `layers_on_rank` says, whose stages memory is counted for.
StageLayers as_cut(const TrainingSetup& setup) {
  const std::int32_t ranks = setup.run.pp;
  const auto held = [&](std::int32_t rank) {
    return static_cast<double>(layers_on_rank(setup.run, setup.framework, rank));
  };
  StageLayers layers{.first = held(0), .last = held(ranks - 1)};
  for (std::int32_t rank = 1; rank + 1 < ranks; ++rank) {
    layers.middle_sum += held(rank);
    layers.middle_most = std::max(layers.middle_most, held(rank));
  }
  return layers;
}

StageLayers balanced(StageLayers best,
                     double total,
                     std::int32_t stages,
                     double layer,
                     double embedding,
                     double head) {
  const auto slowest = [&](const StageLayers& split) {
    return std::max(
        {split.first * layer + embedding, split.last * layer + head, split.middle_most * layer});
  };
  const double most = std::ceil(total / stages);
  const double moved = std::min(most, std::ceil(head / layer) + 2);
  for (double last = std::max(0.0, most - moved); last <= most; ++last) {
    // First as large as the others, or smaller by one where the embedding is heavy.
    const double rest = std::ceil((total - last) / (stages - 1));
    for (const double first : {rest, rest - 1}) {
      if (first < 0 || (stages == 2 && first + last != total)) {
        continue;
      }
      const StageLayers split = with_ends(total, stages, first, last);
      if (slowest(split) < slowest(best) * (1 - 1e-9)) {
        best = split;
      }
    }
  }
  return best;
}

}  // namespace

StageLayers stage_layers(const TrainingSetup& setup, double layer, double embedding, double head) {
  const TrainingRun& run = setup.run;
  const StageLayers cut = as_cut(setup);
  const bool is_stated =
      run.first_stage_layers || run.last_stage_layers || !run.rank_layers.empty();
  if (run.pp == 1 || is_stated || run.virtual_stages > 1 || !setup.framework.balances_stages) {
    return cut;
  }
  return balanced(cut, static_cast<double>(run.shape.layers), run.pp, layer, embedding, head);
}

}  // namespace stagewright
