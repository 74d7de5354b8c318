#pragma once

#include <cstdint>

#include "core/training/framework.h"
#include "core/training/training_run.h"

namespace stagewright {

/// Transformer layers on pipeline rank `rank` (all its virtual stages together), as the run says or
/// else as the framework cuts (StageSplit).  They add up to all layers over the ranks.  Pass the
/// run as it is for uniform pipelines; VocabularyPlacement::kRedistributed takes layers from the
/// last rank as long as that shortens the longest stage, and gives them to those after the first.
/// REQUIRES: check(run) holds, 0 <= rank < run.pp.
[[nodiscard]] std::int64_t layers_on_rank(const TrainingRun& run,
                                          const FrameworkProfile& framework,
                                          std::int32_t rank);

}  // namespace stagewright
