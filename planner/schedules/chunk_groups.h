#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "planner/schedules/generator.h"

namespace stagewright {

/// A forward or backward of an interleaved schedule: which of a rank's stages, and what of.
struct ChunkStep {
  std::int32_t chunk = 0;
  std::int32_t micro_batch = 0;
};

/// Micro-batches in groups of `group`, the last one smaller: all of a group in chunk 0, then in
/// chunk 1 and so on.  A backward has the chunks from the last to the first.
[[nodiscard]] std::vector<ChunkStep> forward_steps(const PipelineShape& shape, std::int32_t group);
[[nodiscard]] std::vector<ChunkStep> backward_steps(const PipelineShape& shape, std::int32_t group);

/// The size of a group.  The parameter `group` must obey Megatron-LM's rule: from P to M, and what
/// is left for the last group is nothing or at least P.  Without it PyTorch's: M divided into
/// max(1, M div P) equal groups.  Fails with the values that would work.
[[nodiscard]] Result<std::int32_t> group_size(const PipelineShape& shape,
                                              std::string_view schedule);

/// Whether PyTorch's rule has a size.
[[nodiscard]] bool divides_into_groups(const PipelineShape& shape);

}  // namespace stagewright
