#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"
#include "core/schedule/rank_program.h"
#include "planner/axes/data.h"
#include "planner/axes/pipeline.h"
#include "planner/axes/tensor.h"
#include "planner/lower/assign_weight_versions.h"
#include "planner/lower/shared_weights.h"

namespace stagewright {

/// Streams of every lowered schedule, by name in Schedule::streams.
inline constexpr StreamId kTensorStream{1};  ///< collectives of tensor groups
inline constexpr StreamId kDataStream{2};    ///< gradients and totals

/// What the passes over one pipeline rank read.
struct RankContext {
  const ModelGraph* model = nullptr;
  const Plan* plan = nullptr;
  TensorAxis tensor;
  DataAxis data;
  PipelineAxis pipeline;
  GroupSlot world;
  const SharedWeights* shared = nullptr;
  std::vector<std::optional<GroupSlot>> sharing_groups;  ///< by sharing that this rank is in
  bool blockwise_attention = false;      ///< its devices need a workspace for attention
  std::optional<WeightUpdates> updates;  ///< of an asynchronous schedule
  const std::vector<StageVersions>* versions = nullptr;  ///< by stage

  [[nodiscard]] const Layer& layer(LayerId id) const { return model->layers[id.index()]; }
  [[nodiscard]] const StagePlan& stage(StageId id) const { return plan->stages[id.index()]; }
  [[nodiscard]] const StageVersions& versions_of(StageId id) const {
    return (*versions)[id.index()];
  }
  /// Those of a replica whose gradients add up.
  [[nodiscard]] std::int32_t micro_batches_per_update() const {
    return updates ? updates->every : plan->micro_batches;
  }
  /// Tokens of a micro-batch.
  [[nodiscard]] std::int64_t rows() const {
    return std::int64_t{plan->micro_batch_size} * plan->sequence;
  }
};

/// A weight that the rank holds, with the place of its gradient.
struct HeldWeight {
  WeightId id;                  ///< of the root, if tied
  LayerId layer;                ///< that uses it here first
  std::vector<StageId> stages;  ///< that use it here, ascending; the first one's bucket has it
  std::string name;             ///< of its tensor: "block.3.qkv.weight"
  WeightShard shard;
  TensorId weight;
  std::vector<TensorId> other_versions;  ///< from version 1 on
  TensorId gradient;
  std::vector<TensorId> states;  ///< of the optimizer, in the order of its operands
  BucketId bucket;
  double copies = 1;
  std::optional<std::size_t> sharing;  ///< over whose group its gradient is summed first
  friend bool operator==(const HeldWeight&, const HeldWeight&) = default;

  [[nodiscard]] TensorId version(std::int32_t number) const {
    return number == 0 ? weight : other_versions[static_cast<std::size_t>(number) - 1];
  }
};

/// What completes a bucket, beside its collectives.
struct BucketUse {
  std::vector<StageId> stages;         ///< whose backwards add to it, ascending
  std::optional<std::size_t> sharing;  ///< of all its weights
  friend bool operator==(const BucketUse&, const BucketUse&) = default;
};

/// A rank's program while passes add to it.
struct RankDraft {
  RankProgram program;
  std::vector<HeldWeight> weights;  ///< by stage, layer, weight; of equal ones only the first
  std::map<WeightId, std::size_t> weight_index;  ///< into weights
  std::vector<BucketUse> bucket_uses;            ///< by bucket
  TensorId loss;                                 ///< view of the program's totals

  TensorId add_tensor(TensorSpec spec);
  /// REQUIRES: the rank holds it.
  [[nodiscard]] const HeldWeight& held(WeightId root) const;
};

/// Element type in memory of what is computed in `type`.
[[nodiscard]] DType storage_type(DType type);

}  // namespace stagewright
