#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"
#include "core/schedule/schedule.h"
#include "runtime/trainer/token_data.h"
#include "runtime/trainer/trainer.h"

namespace stagewright {

/// How a test divides the small model.
struct Layout {
  std::string name;
  std::int32_t dp = 1;
  std::int32_t tp = 1;
  std::int32_t pp = 1;
  std::int32_t cp = 1;
  std::int32_t ep = 1;
  std::int32_t virtual_stages = 1;
  std::string schedule = "1f1b";
  std::int32_t micro_batch_size = 1;
  Recompute recompute = Recompute::kNone;
  RecomputePlacement recompute_placement = RecomputePlacement::kBackward;
  std::int32_t zero_stage = 0;
  std::int32_t gather_residency = 0;
  std::int32_t gather_prefetch = 1;
  std::optional<DType> transfer;
  bool sequence_parallel = false;
  DType compute = DType::kFloat32;  ///< with fp32 master weights, where it is another
  bool experts = false;             ///< of a model with experts
  bool balanced = true;             ///< with a balance term, where there are experts
};
void PrintTo(const Layout& layout, std::ostream* out);

/// The layouts that must train alike; the first is one rank.
[[nodiscard]] const std::vector<Layout>& equal_layouts();
/// The same of a model with experts.
[[nodiscard]] const std::vector<Layout>& expert_layouts();
/// Of such a model without a balance term, which is one of whole sequences.
[[nodiscard]] const std::vector<Layout>& context_expert_layouts();
/// These and more, for what does not depend on rounding: one list, memory.
[[nodiscard]] std::vector<Layout> all_layouts();

enum class Style : std::uint8_t {
  kGpt,                ///< layer norm, GELU, learned positions, biases, tied head
  kLlama,              ///< RMS norm, SwiGLU, rotary positions, grouped heads, own head
  kExperts,            ///< as kLlama, with 4 experts of which a token visits 2, and a balance term
  kUnbalancedExperts,  ///< the same without the balance term
  kConvNet,  ///< images of 12 x 12 to 10 classes: pools, residual layers, fully connected ones
  kEncoder,  ///< post-norm, bidirectional, ReLU, squared error, dropout; else as kGpt, own head
};

/// Of the models that the layout is for.
[[nodiscard]] std::vector<Style> styles_of(const Layout& layout);

/// 7 blocks; a vocabulary of 61, which 2 does not divide.  A convolutional network has 9 layers.
[[nodiscard]] ModelGraph small_model(Style style, std::int32_t blocks = 7);

inline constexpr std::int32_t kGlobalBatch = 8;  ///< sequences
inline constexpr std::int32_t kSequence = 16;    ///< tokens
inline constexpr std::uint64_t kTrainingSeed = 42;

/// Over which layouts are compared.  The sanitizers see in the first steps what there is to see;
/// the optimized build compares enough for the loss to fall.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::int32_t kComparedSteps = 4;
inline constexpr bool kLossFalls = false;
#else
inline constexpr std::int32_t kComparedSteps = 20;
inline constexpr bool kLossFalls = true;
#endif

/// SGD without momentum, or AdamW, both with clipping.
[[nodiscard]] OptimizerSpec sgd();
[[nodiscard]] OptimizerSpec adamw();
[[nodiscard]] OptimizerSpec without_clipping(OptimizerSpec optimizer);

[[nodiscard]] Plan plan_of(const ModelGraph& model,
                           const Layout& layout,
                           const OptimizerSpec& optimizer);
/// As many CPU devices as the layout has ranks.
[[nodiscard]] Cluster cluster_of(const Layout& layout);
/// The lowered plan; a failure ends the test program.
[[nodiscard]] Schedule schedule_of(const ModelGraph& model,
                                   const Layout& layout,
                                   const OptimizerSpec& optimizer);

/// Tokens that follow a rule with a few exceptions, so that a small model learns something.
[[nodiscard]] TokenData learnable_tokens();

/// Trains by a schedule on learnable_tokens(), or on synthetic images.
[[nodiscard]] Result<RunReport> train(const Schedule& schedule, std::int32_t steps);

}  // namespace stagewright
