#pragma once

#include <string>

#include "core/base/result.h"
#include "core/model/model_sizes.h"
#include "core/plan/plan.h"
#include "core/training/training_run.h"

namespace stagewright {

/// Sizes of a model that can be planned and run.
[[nodiscard]] ModelSizes sizes_of(std::string name,
                                  std::string family,
                                  const TransformerShape& shape);

/// A training run of that model with everything else at its default; an encoder reads as many
/// tokens as its decoder writes.
[[nodiscard]] Result<TrainingRun> run_of(const ModelSizes& sizes);

/// The run that a plan describes: degrees of its first stage, layers of its first and last.
/// REQUIRES: at least one stage; `shape` is the shape of the plan's model.
[[nodiscard]] TrainingRun run_of(const Plan& plan, const TransformerShape& shape);

}  // namespace stagewright
