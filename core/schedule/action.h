#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.h"

namespace stagewright {

/// One step of one rank's list.
enum class ActionKind : std::uint8_t {
  kLoadMicroBatch,  ///< tokens and targets of (micro-batch) appear in the input tensors
  kForward,
  kBackward,  ///< input and weight halves in one
  kBackwardInput,
  kBackwardWeight,
  kRecompute,         ///< runs the forward again for its saved activations
  kSendActivation,    ///< stage = the producing stage
  kRecvActivation,    ///< stage = the consuming stage
  kSendGradient,      ///< stage = the producing stage
  kRecvGradient,      ///< stage = the consuming stage
  kReduceGradients,   ///< of one bucket; of that micro-batch, if its storage belongs to one
  kGatherParameters,  ///< of one bucket, for that micro-batch, if its storage belongs to one
  kOptimizerStep,     ///< norm, clip, update, clear gradients
  /// Changes the weights of one stage while other micro-batches are under way (asynchronous
  /// schedules); micro-batch = the last one whose gradient it uses.
  kUpdateParameters,
};
inline constexpr int kActionKindCount = static_cast<int>(ActionKind::kUpdateParameters) + 1;

/// Plain data.  A field that the kind does not use is 0.
struct Action {
  ActionKind kind = ActionKind::kForward;
  /// Compute actions and updates: which StageProgram of the stage, where there are several.
  std::uint16_t version = 0;
  StageId stage{};
  MicroBatchId micro_batch{};
  PeerSlot peer{};    ///< sends and receives: the other rank, through RankBinding::peers
  BucketId bucket{};  ///< kReduceGradients, kGatherParameters
  friend bool operator==(const Action&, const Action&) = default;
};

[[nodiscard]] std::string_view name_of(ActionKind kind);
[[nodiscard]] std::optional<ActionKind> action_kind_named(std::string_view name);
/// Runs a stage program's phase on the compute stream.
[[nodiscard]] bool is_compute(ActionKind kind);
/// Runs a list of StageProgram, of which a stage may have several versions.
[[nodiscard]] bool has_version(ActionKind kind);
/// Whether the gradients of a micro-batch's weights are whole behind it.
[[nodiscard]] bool completes_gradients(ActionKind kind);
[[nodiscard]] bool is_send(ActionKind kind);
[[nodiscard]] bool is_receive(ActionKind kind);
/// "2F0", "2B0", "2I0", "2W0", "2R0", "1SEND_F3", "2RECV_F3", "2U0", "REDUCE4", "STEP": stage,
/// letter, micro-batch, as PyTorch's pipelining writes its compute actions; a version above 0
/// behind it ("2F3v1"), as a micro-batch above 0 behind a bucket ("REDUCE4m3").
[[nodiscard]] std::string to_string(const Action& action);
/// Reads such a text back; sends and receives may name their peer slot behind it ("1SEND_F3@2",
/// else 0).  Nothing if it is none or a number does not fit.
[[nodiscard]] std::optional<Action> parse_action(std::string_view text);

}  // namespace stagewright
