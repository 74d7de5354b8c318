#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/schedule/action.h"
#include "core/schedule/operation.h"
#include "core/schedule/parameter.h"
#include "core/schedule/tensor.h"

namespace stagewright {

/// The operations of one (virtual) stage on one rank.  The simulator prices these lists, the
/// runtime executes them; there are no others.
struct StageProgram {
  StageId stage;
  /// Where a stage keeps several versions of its weights, it has a program for each: the same
  /// operations on other weights.  Action::version chooses.
  std::int32_t version = 0;
  std::vector<Operation> forward;
  /// Whole backward in its natural order.  A split backward runs the same list twice: first the
  /// operations without `weight_gradient`, later those with it.
  std::vector<Operation> backward;
  /// Forward again without what only the output needs; empty where the plan keeps all activations
  /// or `backward` already holds the recomputation.
  std::vector<Operation> recompute;
  /// Makes this version of the weights (kUpdateParameters); empty where only the optimizer step
  /// changes weights.
  std::vector<Operation> update;
  // Tensors at the borders (absent at the ends of the pipeline).
  std::optional<TensorId> input;            ///< activation from the stage before
  std::optional<TensorId> output;           ///< activation for the stage after
  std::optional<TensorId> output_gradient;  ///< from the stage after
  std::optional<TensorId> input_gradient;   ///< for the stage before
  std::optional<TensorId> tokens;           ///< int32 (rows), loaded per micro-batch
  std::optional<TensorId> targets;
  friend bool operator==(const StageProgram&, const StageProgram&) = default;
};

/// Gradients that are reduced together.
struct GradientBucket {
  TensorId storage;  ///< flat; the gradient tensors are views into it
  StageId stage;
  std::vector<Operation> reduce;  ///< collectives of kReduceGradients (tied weights first)
  std::vector<Operation> gather;  ///< collectives of kGatherParameters (sharded parameters)
  friend bool operator==(const GradientBucket&, const GradientBucket&) = default;
};

/// Everything one rank does in one optimizer step.  Ranks that differ only in whom they talk to
/// share one program.
struct RankProgram {
  std::vector<TensorSpec> tensors;
  std::vector<ParameterSlice> parameters;
  std::vector<StageProgram> stages;  ///< ascending stage ids, then versions from 0 on
  std::vector<GradientBucket> buckets;
  std::vector<Operation> optimizer_step;
  /// fp32 (2): squared gradient norm, loss.  Complete after the step's all-reduce.
  std::optional<TensorId> totals;
  std::vector<Action> actions;
  friend bool operator==(const RankProgram&, const RankProgram&) = default;

  /// The program of a stage that this rank holds.  REQUIRES: it does, in that version.
  [[nodiscard]] const StageProgram& stage(StageId id, std::int32_t version = 0) const;
  /// Programs that the rank has for a stage; 0 where it does not hold it.
  [[nodiscard]] std::int32_t versions_of(StageId id) const;
};

/// The operations that an action runs, in order, with a selection for split backwards.
/// Empty for sends, receives and loads: these move the border tensors.
struct ActionOperations {
  std::span<const Operation> ops;
  enum class Half : std::uint8_t {
    kBoth,
    kInput,
    kWeight
  } half = Half::kBoth;
  [[nodiscard]] bool includes(const Operation& op) const {
    return half == Half::kBoth || (half == Half::kWeight) == op.weight_gradient;
  }
};
[[nodiscard]] ActionOperations operations_of(const RankProgram& program, const Action& action);

/// The border tensor that a send, receive or load moves.  Loads move tokens and targets:
/// both are returned.  Empty for other actions.
[[nodiscard]] std::vector<TensorId> moved_tensors(const RankProgram& program, const Action& action);

/// Bytes that a send or receive puts on the link.
[[nodiscard]] Bytes message_bytes(const RankProgram& program, const Action& action);

}  // namespace stagewright
