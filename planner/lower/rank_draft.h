#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"
#include "core/schedule/rank_program.h"
#include "planner/axes/context.h"
#include "planner/axes/data.h"
#include "planner/axes/expert.h"
#include "planner/axes/pipeline.h"
#include "planner/axes/tensor.h"
#include "planner/lower/assign_weight_versions.h"
#include "planner/lower/repeat_rules.h"
#include "planner/lower/shared_weights.h"

namespace stagewright {

/// Streams of every lowered schedule, by name in Schedule::streams.
inline constexpr StreamId kTensorStream{1};  ///< collectives of tensor groups
inline constexpr StreamId kDataStream{2};    ///< gradients and totals
/// Keys and values on their way round, tokens on their way to experts; only where there are such.
inline constexpr StreamId kExchangeStream{3};

/// What of a bucket replicas divide among them (Rajbhandari et al. 2020): stage 1, 2 or 3 of ZeRO.
enum class BucketSharding : std::uint8_t {
  kNone,
  kStates,
  kGradients,   ///< and the sums of gradients: each micro-batch's are reduced at once
  kParameters,  ///< and the weights: whole ones exist while a micro-batch needs them
};

/// What the passes over one pipeline rank read.
struct RankContext {
  const ModelGraph* model = nullptr;
  const Plan* plan = nullptr;
  TensorAxis tensor;
  ContextAxis context;
  DataAxis data;
  ExpertAxis expert;
  PipelineAxis pipeline;
  GroupSlot world;
  const SharedWeights* shared = nullptr;
  std::vector<std::optional<GroupSlot>> sharing_groups;  ///< by sharing that this rank is in
  bool blockwise_attention = false;      ///< its devices need a workspace for attention
  std::optional<WeightUpdates> updates;  ///< of an asynchronous schedule
  const std::vector<StageVersions>* versions = nullptr;  ///< by stage
  RepeatRules repeats;                                   ///< of recomputation
  bool splits_backward = false;  ///< weight halves run later, in actions of their own
  std::set<StageId> ahead;       ///< stages whose recomputation is an action of its own

  [[nodiscard]] const Layer& layer(LayerId id) const { return model->layers[id.index()]; }
  [[nodiscard]] const StagePlan& stage(StageId id) const { return plan->stages[id.index()]; }
  [[nodiscard]] bool recomputes_ahead(StageId id) const { return ahead.contains(id); }
  [[nodiscard]] const StageVersions& versions_of(StageId id) const {
    return (*versions)[id.index()];
  }
  /// Ranks that sum a weight's gradient.
  [[nodiscard]] const DataAxis& replicas_of(bool by_expert) const {
    return by_expert ? expert.replicas : data;
  }
  [[nodiscard]] BucketSharding sharding(bool by_expert) const {
    return replicas_of(by_expert).group ? static_cast<BucketSharding>(plan->zero_stage)
                                        : BucketSharding::kNone;
  }
  /// Those of a replica whose gradients add up.
  [[nodiscard]] std::int32_t micro_batches_per_update() const {
    return updates ? updates->every : plan->micro_batches;
  }
  /// Tokens of a sequence, and of a micro-batch, that the ranks of a tensor group have together.
  [[nodiscard]] std::int64_t tokens() const { return context.tokens(*plan); }
  [[nodiscard]] std::int64_t rows() const {
    return std::int64_t{plan->micro_batch_size} * tokens();
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
  BucketId bucket;
  double copies = 1;
  bool decay = false;
  std::optional<std::size_t> sharing;  ///< over whose group its gradient is summed first
  bool summed_over_tensor = false;     ///< members of the tensor group have terms of its gradient
  bool by_expert = false;              ///< held by the members that have these experts
  friend bool operator==(const HeldWeight&, const HeldWeight&) = default;

  [[nodiscard]] TensorId version(std::int32_t number) const {
    return number == 0 ? weight : other_versions[static_cast<std::size_t>(number) - 1];
  }
};

/// The part of a bucket that is this rank's to update.
struct BucketShard {
  TensorId weight;
  TensorId gradient;
  std::optional<TensorId> received;  ///< of the newest micro-batch, not yet added to `gradient`
  std::int64_t elements = 0;
  friend bool operator==(const BucketShard&, const BucketShard&) = default;
};

/// What completes a bucket, beside its collectives.
struct BucketUse {
  std::vector<StageId> stages;         ///< whose backwards add to it, ascending
  std::vector<std::size_t> weights;    ///< in it, into RankDraft::weights
  std::optional<std::size_t> sharing;  ///< of all its weights
  bool by_expert = false;              ///< likewise
  BucketSharding sharding = BucketSharding::kNone;
  std::optional<BucketShard> shard;
  friend bool operator==(const BucketUse&, const BucketUse&) = default;
};

/// What the optimizer updates as one: a weight, or a rank's part of a bucket.
struct UpdateUnit {
  std::string name;
  StageId stage;
  std::optional<LayerId> layer;
  std::vector<TensorId> weights;  ///< by version
  TensorId gradient;
  std::int64_t elements = 0;
  bool decay = false;
  double copies = 1;             ///< ranks of the world that update the very same elements
  std::vector<TensorId> states;  ///< of the optimizer, in the order of its operands
  friend bool operator==(const UpdateUnit&, const UpdateUnit&) = default;
};

/// An action of a bucket among a rank's compute actions.
struct BucketAction {
  Action action;
  std::int32_t slot = 0;  ///< so many compute actions come before it
  friend bool operator==(const BucketAction&, const BucketAction&) = default;
};

/// A rank's program while passes add to it.
struct RankDraft {
  RankProgram program;
  std::vector<HeldWeight> weights;  ///< by stage, layer, weight; of equal ones only the first
  std::map<WeightId, std::size_t> weight_index;  ///< into weights
  std::vector<BucketUse> bucket_uses;            ///< by bucket
  std::vector<UpdateUnit> updates;               ///< in the order of the optimizer step
  TensorId loss;                                 ///< view of the program's totals

  TensorId add_tensor(TensorSpec spec);
  /// REQUIRES: the rank holds it.
  [[nodiscard]] const HeldWeight& held(WeightId root) const;
};

/// Element type in memory of what is computed in `type`: products in 8 bits convert what they read.
[[nodiscard]] DType storage_type(DType type);

}  // namespace stagewright
