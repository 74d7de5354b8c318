#pragma once

#include "planner/lower/layer_writer.h"

namespace stagewright {

/// How one operation of a layer becomes operations of a rank: its forward, and its backward as
/// gradient of the input first, then gradients of the weights (flagged), which may
/// overlap with the collective that the former needs.
struct OpRule {
  void (*forward)(LayerWriter& writer, const LayerOp& op);
  /// All readers of the output have added to its gradient.
  void (*backward)(LayerWriter& writer, const LayerOp& op);
};

[[nodiscard]] OpRule rule_of(LayerOpKind kind);

// One file each in this folder.
[[nodiscard]] OpRule activation_rule();
[[nodiscard]] OpRule add_rule();
[[nodiscard]] OpRule attention_rule();
[[nodiscard]] OpRule convolution_rule();
[[nodiscard]] OpRule cross_entropy_rule();
[[nodiscard]] OpRule dropout_rule();
[[nodiscard]] OpRule embedding_rule();
[[nodiscard]] OpRule experts_rule();
[[nodiscard]] OpRule image_rule();
[[nodiscard]] OpRule linear_rule();
[[nodiscard]] OpRule norm_rule();
[[nodiscard]] OpRule pool_rule();
[[nodiscard]] OpRule position_rule();
[[nodiscard]] OpRule rope_rule();
[[nodiscard]] OpRule squared_error_rule();

/// The bias that a row-divided projection leaves to the addition or dropout that reads it, since it
/// has to be added once, after the sum over the group.  Nothing where there is none.
[[nodiscard]] std::optional<TensorId> deferred_bias(const LayerWriter& writer, ValueId projection);

}  // namespace stagewright
