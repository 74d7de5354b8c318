#pragma once

#include <string_view>

#include "core/training/training_run.h"
#include "formats/measured_record.h"

namespace stagewright {

// What the free words in published records mean.  Each leaves `run` alone and returns false where
// it does not understand them.

/// "bf16", "bf16 amp", "bf16 pure", "fp8 (current scaling)", "mxfp8", "nvfp4", "fp16", "tf32", ...
[[nodiscard]] bool read_precision(std::string_view words, TrainingRun& run);
/// "none", "full", "full (uniform, 1 layers)", "selective", "selective (op)", ...
[[nodiscard]] bool read_recompute(std::string_view words, TrainingRun& run);
/// "1f1b", "1f1b-interleaved", "1f1b + vocab-2 vocabulary parallelism", ...
void read_schedule(std::string_view words, TrainingRun& run);
[[nodiscard]] MemoryKind read_memory_kind(std::string_view words);

}  // namespace stagewright
