#include "sim/step/stage_layers.h"

#include <algorithm>
#include <cmath>

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

StageLayers even(double total, std::int32_t stages) {
  const double least = std::floor(total / stages);
  const double extra = total - least * stages;
  return with_ends(total, stages, least + (extra > 0 ? 1 : 0), least);
}

StageLayers balanced(
    double total, std::int32_t stages, double layer, double embedding, double head) {
  StageLayers best = even(total, stages);
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
  const auto total = static_cast<double>(run.shape.layers);
  if (run.pp == 1) {
    return {.first = total, .last = total};
  }
  if (run.first_stage_layers || run.last_stage_layers) {
    const double usual = std::floor(total / run.pp);
    return with_ends(total,
                     run.pp,
                     run.first_stage_layers.value_or(static_cast<int>(usual)),
                     run.last_stage_layers.value_or(static_cast<int>(usual)));
  }
  const bool redistributed = run.vocabulary_placement == VocabularyPlacement::kRedistributed;
  if (redistributed || (setup.framework.balances_stages && run.virtual_stages == 1)) {
    return balanced(total, run.pp, layer, embedding, head);
  }
  return even(total, run.pp);
}

}  // namespace stagewright
