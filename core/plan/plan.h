#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "core/plan/optimizer.h"

namespace stagewright {

enum class Recompute : std::uint8_t {
  kNone,
  kSelective,
  kFull
};
[[nodiscard]] std::string_view name_of(Recompute recompute);  ///< "none", "selective", "full"
[[nodiscard]] std::optional<Recompute> recompute_named(std::string_view name);

/// Where a stage's recomputation runs.
enum class RecomputePlacement : std::uint8_t {
  kBackward,  ///< in the backward, layer by layer: one layer's activations at a time
  kAhead,     ///< as an action of its own ahead of it, while the rank waits for the gradient
};
[[nodiscard]] std::string_view name_of(RecomputePlacement placement);  ///< "backward", "ahead"

/// One (virtual) stage of the pipeline.
struct StagePlan {
  std::int32_t first_layer = 0;  ///< into ModelGraph::layers (topological order)
  std::int32_t layers = 0;       ///< contiguous
  std::int32_t dp = 1;
  std::int32_t tp = 1;
  Recompute recompute = Recompute::kNone;
  /// Layers to which `recompute` applies, counted from the stage's first; absent: all.
  std::optional<std::int32_t> recompute_layers;
  /// Devices of the stage, tensor index fastest, then context, then data.  Empty: by
  /// Plan::rank_order.
  std::vector<std::int32_t> devices;
  friend bool operator==(const StagePlan&, const StagePlan&) = default;
};

struct PrecisionPlan {
  DType compute = DType::kBFloat16;  ///< weights and activations
  DType gradient = DType::kFloat32;  ///< accumulation and reduction
  bool master_weights = true;        ///< fp32 copy in the optimizer (ignored for fp32 compute)
  /// Of activations and their gradients on the way between stages; absent: as computed.
  std::optional<DType> transfer;
  friend bool operator==(const PrecisionPlan&, const PrecisionPlan&) = default;
};

/// Order in which ranks fill the cluster, fastest first; a permutation of "tp", "cp", "dp", "pp".
using RankOrder = std::vector<std::string>;

/// A complete answer to "how is this model trained on this cluster".
struct Plan {
  std::string model;              ///< canonical name or path of a configuration
  std::string model_hash;         ///< of the graph it was made for; empty: not yet bound
  std::string cluster;            ///< name or short form
  std::vector<StagePlan> stages;  ///< pp * virtual_stages entries
  std::int32_t virtual_stages = 1;
  std::int32_t cp = 1;
  std::int32_t ep = 1;
  std::int32_t sequence = 0;          ///< tokens
  std::int32_t micro_batch_size = 1;  ///< sequences
  std::int32_t micro_batches = 1;     ///< per replica and optimizer step ("chunks")
  std::int32_t flushes = 1;           ///< pipeline rounds they are divided into
  std::string schedule = "1f1b";
  std::map<std::string, std::int64_t> schedule_parameters;
  RecomputePlacement recompute_placement = RecomputePlacement::kBackward;
  std::int32_t zero_stage = 0;
  /// zero_stage 3: parameters that were gathered for a forward stay for its backward where that
  /// comes at most so many compute actions later, else they are gathered again.
  std::int32_t gather_residency = 0;
  /// zero_stage 3: parameters are gathered so many compute actions ahead of their use.
  std::int32_t gather_prefetch = 1;
  bool sequence_parallel = false;
  std::optional<Bytes> bucket_size;  ///< absent: one gradient bucket a stage
  PrecisionPlan precision;
  OptimizerSpec optimizer;
  RankOrder rank_order = {"tp", "cp", "dp", "pp"};
  std::map<std::string, std::string>
      made_by;  ///< provenance: program version, command, date, profile
  friend bool operator==(const Plan&, const Plan&) = default;

  [[nodiscard]] std::int32_t pp() const {
    return static_cast<std::int32_t>(stages.size()) / virtual_stages;
  }
  /// Devices in use.  REQUIRES: at least one stage.
  [[nodiscard]] std::int32_t devices() const;
  /// Sequences per optimizer step over all replicas.  REQUIRES: equal dp in all stages.
  [[nodiscard]] std::int64_t global_batch() const;
  /// dp / tp where all stages agree.
  [[nodiscard]] std::optional<std::int32_t> uniform_dp() const;
  [[nodiscard]] std::optional<std::int32_t> uniform_tp() const;
};

/// Contiguous stages with as equal layer counts as possible where nothing better is known: `layers`
/// over `stages`, the first ones one larger.  REQUIRES: 1 <= stages <= layers.
[[nodiscard]] std::vector<StagePlan> even_stages(std::int32_t layers,
                                                 std::int32_t stages,
                                                 std::int32_t dp,
                                                 std::int32_t tp);

/// "tp8 pp4 dp16, 64 x 1 micro-batches, 1f1b, recompute full": one line for people.
[[nodiscard]] std::string summary(const Plan& plan);

/// The plan file: versioned JSON (docs/plan.schema.json).  Scalar "dp", "tp", "pp" and "recompute"
/// are shorthand for equal stages with even layers, or defaults of the stages that are written out;
/// "global_batch" may stand for "micro_batches".  `layers` is the number of layers of the model:
/// needed to expand the shorthand, and then no stage may lose or double a layer.
[[nodiscard]] std::string to_json_text(const Plan& plan);
[[nodiscard]] Result<Plan> parse_plan(std::string_view text,
                                      std::string_view where,
                                      std::optional<std::int32_t> layers = std::nullopt);

/// What must be loaded before the whole plan can be read.
struct PlanNames {
  std::string model;
  std::string cluster;
  friend bool operator==(const PlanNames&, const PlanNames&) = default;
};
[[nodiscard]] Result<PlanNames> parse_plan_names(std::string_view text, std::string_view where);

}  // namespace stagewright
