#pragma once

#include "planner/search/dimension.h"

namespace stagewright {

// The entries, by file; registry.cpp puts them in order.
[[nodiscard]] Dimension tensor_dimension();
[[nodiscard]] Dimension pipeline_dimension();
[[nodiscard]] Dimension context_dimension();
[[nodiscard]] Dimension expert_dimension();
[[nodiscard]] Dimension expert_tensor_dimension();
[[nodiscard]] Dimension data_dimension();
[[nodiscard]] Dimension devices_dimension();
[[nodiscard]] Dimension micro_batch_dimension();
[[nodiscard]] Dimension micro_batches_dimension();
[[nodiscard]] Dimension sequence_parallel_dimension();
[[nodiscard]] Dimension recompute_dimension();
[[nodiscard]] Dimension recompute_layers_dimension();
[[nodiscard]] Dimension virtual_stages_dimension();
[[nodiscard]] Dimension schedule_dimension();
[[nodiscard]] Dimension cut_dimension();
[[nodiscard]] Dimension rank_order_dimension();
[[nodiscard]] Dimension zero_dimension();
[[nodiscard]] Dimension shard_group_dimension();
[[nodiscard]] Dimension bucket_dimension();
[[nodiscard]] Dimension transfer_dimension();

/// What any point whose value lowering cannot execute shares: the closed form of sim/step knows
/// neither other schedules nor uneven stages nor placement.
[[nodiscard]] bool closed_form_point(const PlanPoint& point);

}  // namespace stagewright
