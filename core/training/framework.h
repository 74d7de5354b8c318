#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/data_files.h"
#include "core/base/json_reader.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "core/plan/plan.h"
#include "core/training/framework_memory.h"

namespace stagewright {

/// Which fused attention a framework calls.
enum class AttentionKernel : std::uint8_t {
  kFlash1,  ///< FlashAttention-1 and its Triton version
  kFlash2,  ///< FlashAttention-2, PyTorch's SDPA
  kVendor,  ///< cuDNN's on Hopper and later; FlashAttention-2 before
};

/// What a training framework does where a run does not say otherwise: facts about its code, each
/// with a source.  Calibrated numbers are not here but in profiles/calibration; `timing_class`
/// names the set that applies.
struct FrameworkProfile {
  std::string name;                  ///< "megatron"
  std::vector<std::string> aliases;  ///< how records name it: "megatron-core"
  std::string description;
  std::string timing_class;  ///< of the calibrated host and kernel figures
  /// What the name means for runs that use what this version had not; empty: this one.
  std::string successor;

  // Kernels.
  bool flash_attention = true;
  AttentionKernel attention_kernel = AttentionKernel::kFlash2;
  /// For models with rotary positions, where another kernel serves those.
  std::optional<AttentionKernel> rotary_attention_kernel;
  /// The scores' scale, mask and softmax in one kernel, where attention is not flash attention.
  bool fused_softmax = true;
  bool fused_activation = true;  ///< bias and activation in one kernel
  bool fused_residual = true;    ///< bias, dropout and residual in one kernel
  bool fused_norm = true;
  bool fused_optimizer = true;
  bool fused_casts = false;         ///< to 8 bits, inside the kernel before (Transformer Engine)
  bool fused_accumulation = false;  ///< weight gradients are added by the product itself
  bool dropout = false;             ///< after attention and MLP, and of the attention weights

  // Communication.
  bool sequence_parallel = false;  ///< with tensor parallelism
  bool overlap_gradients = true;   ///< reduction under the last backward
  bool overlap_gather = true;      ///< of parameters under the forward
  bool overlap_transfers = true;   ///< between stages
  /// Each tensor rank sends its part of an activation to the next stage, which gathers it.
  bool scatters_transfers = false;
  /// The input gradient's reduction runs under the weight gradient's product.
  bool overlap_input_gradient = false;
  bool overlap_tensor = false;  ///< collectives of tensor parallelism under products
  bool experts_divided_by_tensor = false;
  /// A token goes to a node once, whatever experts it visits there, and its results are summed
  /// before they come back (DeepEP).
  bool dispatches_once_per_node = false;
  /// ZeRO-1 state is sent out by its owners one parameter after the other (no all-gather).
  bool broadcasts_by_owner = false;

  // Placement.
  bool balances_stages = false;  ///< moves layers away from the embedding's and the head's stage
  Recompute recompute = Recompute::kNone;

  /// Not autograd: recomputation repeats only what the backward reads (no last projection, nothing
  /// that flash attention keeps), ahead of the gradient, and gradients leave before a pass is over.
  bool spares_recomputation = false;

  // Numbers.
  bool gradient_32 = true;             ///< gradients are accumulated and reduced in fp32
  std::int64_t pad_vocabulary = 1;     ///< to a multiple of this, times tp
  Bytes gradient_bucket{160'000'000};  ///< what one data-parallel reduction moves at most

  FrameworkMemory memory;

  std::vector<std::string> sources;
  friend bool operator==(const FrameworkProfile&, const FrameworkProfile&) = default;
};

[[nodiscard]] Result<FrameworkProfile> parse_framework(std::string_view text,
                                                       std::string_view where);

/// The profile of that name or alias (letter case does not matter), or an error that lists the
/// known ones.
[[nodiscard]] Result<FrameworkProfile> find_framework(const DataFiles& files,
                                                      std::string_view name);

/// What is assumed of a framework that nobody has described: "generic".
[[nodiscard]] Result<FrameworkProfile> default_framework(const DataFiles& files);

}  // namespace stagewright
