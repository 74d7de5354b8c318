#pragma once

#include <optional>
#include <string_view>

#include "core/training/training_run.h"
#include "formats/measured_record.h"

namespace stagewright {

// What the words in published records mean; letter case does not matter.  Each reader leaves `run`
// alone and returns false where it does not understand them.

/// "bf16", "bf16 amp", "bf16 pure", "fp8 (current scaling)", "mxfp8", "nvfp4", "fp16", "tf32", ...
[[nodiscard]] bool read_precision(std::string_view words, TrainingRun& run);
/// "none", "full", "full (uniform, 1 layers)", "full (block, 4 layers)", "selective",
/// "selective (op)", "selective (every 2nd layer)", ...
[[nodiscard]] bool read_recompute(std::string_view words, TrainingRun& run);
/// "1f1b", "1f1b-interleaved", "1f1b + vocab-2 vocabulary parallelism", "gpipe", "zb-h1", ...
[[nodiscard]] bool read_schedule(std::string_view words, TrainingRun& run);
/// Unknown words are an unknown kind.
[[nodiscard]] MemoryKind read_memory_kind(std::string_view words);
/// Bytes of "GB", "GiB", "GB (MB/1024)", "MB", "MiB".
[[nodiscard]] std::optional<double> read_memory_unit(std::string_view words);
/// True for "learned_absolute", false for "rope", "alibi", "none".
[[nodiscard]] std::optional<bool> read_positions(std::string_view words);

}  // namespace stagewright
