#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/units.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"

namespace stagewright {

/// Experts that stand in place of the MLP of some layers.
struct ExpertShape {
  std::int64_t experts = 0;
  std::int64_t per_token = 1;            ///< experts that a token visits
  std::int64_t feed_forward = 0;         ///< inner width of one expert
  std::int64_t shared_feed_forward = 0;  ///< inner width of what every token visits; 0: nothing
  std::int64_t dense_layers = 0;         ///< leading layers that keep their MLP
  friend bool operator==(const ExpertShape&, const ExpertShape&) = default;
};

/// Layers of the run's sizes, without a causal mask, whose output each of the run's own layers
/// attends to beside its own input (T5).
struct EncoderShape {
  std::int64_t layers = 0;
  std::int64_t sequence = 0;  ///< tokens that it reads; `TrainingRun::sequence` is the decoder's
  friend bool operator==(const EncoderShape&, const EncoderShape&) = default;
};

/// Number format of the matrix products.
enum class MatrixFormat : std::uint8_t {
  kFloat32,
  kTf32,
  kBFloat16,
  kFloat16,
  kFloat8,        ///< one scale a tensor
  kFloat8Blocks,  ///< one scale a block (MXFP8, 128 x 128 tiles)
  kFloat4,        ///< block-scaled 4-bit (NVFP4)
};

/// How the vocabulary's layers lie in a pipeline.
enum class VocabularyPlacement : std::uint8_t {
  kEnds,           ///< embedding on the first stage, output layer on the last
  kRedistributed,  ///< the same, with transformer layers moved away from them
  kAllStages,      ///< divided over all stages, as passes of their own (two barriers)
  kAllStagesOnce,  ///< the same with one barrier
  kInterlaced,     ///< the same, synchronously with the last stage
};

/// What a selective recomputation keeps.
enum class SelectiveKind : std::uint8_t {
  kAttentionCore,  ///< recompute scores, softmax, context (Korthikanti et al. 2022)
  kOperations      ///< keep every other matrix product and attention (torchtitan "op")
};

/// Which layers a full recomputation repeats, and what it keeps of them.
struct RecomputedLayers {
  std::int32_t block = 0;  ///< the first ones of every virtual stage (Megatron's "block"); 0: all
  std::int32_t every = 1;  ///< every n-th layer alone (torchtitan's selective option "n")
  std::int32_t checkpoint = 1;  ///< layers that share one kept input (Megatron's "uniform")

  friend bool operator==(const RecomputedLayers&, const RecomputedLayers&) = default;
};

/// All that the time and the memory of a training step depend on, in a framework's own terms: what
/// a measured record, a plan or a user's command line says.  Uniform degrees; one step of the
/// optimizer.  Plain values; `check` says whether they fit together.
struct TrainingRun {
  TransformerShape shape;  ///< `max_sequence` is not used
  std::int64_t sequence = 0;
  std::optional<ExpertShape> experts;
  std::optional<EncoderShape> encoder;
  bool causal = true;             ///< false: a token attends to those behind it, too
  bool latent_attention = false;  ///< MLA with the ranks of DeepSeek-V2/V3
  bool squared_relu = false;      ///< the activation, where shape.activation says ReLU

  std::int32_t dp = 1;
  std::int32_t tp = 1;
  std::int32_t pp = 1;
  std::int32_t virtual_stages = 1;
  std::int32_t cp = 1;
  std::int32_t ep = 1;  ///< inside dp * cp (* tp where the experts are not divided by tp)
  std::optional<std::int32_t> expert_tp;  ///< absent: as the framework does it
  std::int32_t micro_batch = 1;           ///< sequences
  std::int64_t micro_batches = 1;         ///< per replica and step
  std::optional<bool> sequence_parallel;
  std::int32_t zero_stage = 0;
  std::int32_t shard_group = 0;  ///< members that share one copy of the state; 0: all of dp * cp
  std::optional<Recompute> recompute;
  SelectiveKind selective = SelectiveKind::kAttentionCore;
  RecomputedLayers recomputed;
  std::string schedule;  ///< "1f1b", "interleaved", ...; empty: what the framework does
  VocabularyPlacement vocabulary_placement = VocabularyPlacement::kEnds;
  MatrixFormat format = MatrixFormat::kBFloat16;
  bool half_precision = false;            ///< fp16 with loss scaling in place of bf16
  std::optional<bool> gradient_32;        ///< gradients accumulated and reduced in fp32
  std::optional<bool> master_weights;     ///< absent: as the framework does it
  std::optional<bool> flash_attention;    ///< absent: as the framework does it
  std::optional<bool> fused_loss;         ///< cross-entropy in one kernel
  std::optional<bool> compiled;           ///< torch.compile
  bool async_tensor_parallel = false;     ///< collectives decomposed under the products
  std::optional<bool> overlap_gradients;  ///< of the data-parallel reduction
  std::optional<bool> overlap_gather;     ///< of parameters
  bool optimizer_offload = false;
  std::optional<std::int32_t> first_stage_layers;
  std::optional<std::int32_t> last_stage_layers;
  /// Transformer layers of every pipeline rank, where a plan fixes them all; empty: as above.
  std::vector<std::int32_t> rank_layers;

  friend bool operator==(const TrainingRun&, const TrainingRun&) = default;

  [[nodiscard]] std::int64_t devices() const { return std::int64_t{dp} * tp * pp * cp; }
  [[nodiscard]] std::int64_t global_batch() const { return micro_batches * micro_batch * dp; }
};

/// Tokens of a micro-batch on one rank, before any division by tp.
[[nodiscard]] double tokens_of(const TrainingRun& run);
/// Share of the layers that a full recomputation repeats, 0 to 1; a block is that of a stage of
/// layers / (pp * virtual stages).
[[nodiscard]] double recomputed_share(const TrainingRun& run);

/// Trainable parameters of the whole model and of what one token visits; experts included.
struct ParameterCounts {
  double total = 0;
  double active = 0;
  double embedding = 0;  ///< input table (and the output layer where it is tied)
  double head = 0;       ///< output layer; 0 where tied
  double expert = 0;     ///< in experts (not shared ones), of `total`
  friend bool operator==(const ParameterCounts&, const ParameterCounts&) = default;
};
[[nodiscard]] ParameterCounts parameter_counts(const TrainingRun& run);

/// The encoder as a run of its own, with the decoder's layers left out.  REQUIRES: run.encoder.
[[nodiscard]] TrainingRun encoder_of(const TrainingRun& run);

/// Fails, naming the field, where the run's numbers contradict each other: sizes or degrees that
/// are not positive, heads that tp does not divide, more stages than layers, ...
[[nodiscard]] Result<void> check(const TrainingRun& run);

}  // namespace stagewright
