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
#include "planner/lower/tied_weights.h"

namespace stagewright {

/// Streams of every lowered schedule, by name in Schedule::streams.
inline constexpr StreamId kTensorStream{1};  ///< collectives of tensor groups
inline constexpr StreamId kDataStream{2};    ///< gradients and totals

/// A weight of which several pipeline ranks hold a copy.
struct TieAxis {
  WeightId root;
  std::int32_t copies = 1;  ///< pipeline ranks that hold one
  GroupSlot group;
  friend bool operator==(const TieAxis&, const TieAxis&) = default;
};

/// What the passes over one pipeline rank read.
struct RankContext {
  const ModelGraph* model = nullptr;
  const Plan* plan = nullptr;
  TensorAxis tensor;
  DataAxis data;
  PipelineAxis pipeline;
  GroupSlot world;
  std::optional<TieAxis> tie;        ///< present where this rank shares the tied weight
  bool blockwise_attention = false;  ///< its devices need a workspace for attention

  [[nodiscard]] const Layer& layer(LayerId id) const { return model->layers[id.index()]; }
  [[nodiscard]] const StagePlan& stage(StageId id) const { return plan->stages[id.index()]; }
  /// Tokens of a micro-batch.
  [[nodiscard]] std::int64_t rows() const {
    return std::int64_t{plan->micro_batch_size} * plan->sequence;
  }
};

/// A weight that the rank holds, with the place of its gradient.
struct HeldWeight {
  WeightId id;    ///< of the root, if tied
  LayerId layer;  ///< that uses it here
  StageId stage;
  std::string name;  ///< of its tensor: "block.3.qkv.weight"
  WeightShard shard;
  TensorId weight;
  TensorId gradient;
  BucketId bucket;
  double copies = 1;
  bool shared_with_other_stage = false;  ///< its gradient is summed over the "tie" group first
  friend bool operator==(const HeldWeight&, const HeldWeight&) = default;
};

/// A rank's program while passes add to it.
struct RankDraft {
  RankProgram program;
  std::vector<HeldWeight> weights;  ///< by stage, layer, weight; of equal ones only the first
  std::map<WeightId, std::size_t> weight_index;  ///< into weights
  TensorId loss;                                 ///< view of the program's totals

  TensorId add_tensor(TensorSpec spec);
  /// REQUIRES: the rank holds it.
  [[nodiscard]] const HeldWeight& held(WeightId root) const;
};

/// Element type in memory of what is computed in `type`.
[[nodiscard]] DType storage_type(DType type);

}  // namespace stagewright
