#pragma once

#include <optional>

#include "core/schedule/rank_program.h"

namespace stagewright {

/// What the passes of a stage exchange with the stages beside it; empty for other actions, and at
/// the ends of the model.
struct PassMessages {
  std::optional<TensorId> awaited;  ///< the input of a forward, the gradient of a backward's output
  std::optional<TensorId> sent;     ///< the output of a forward, the gradient of a backward's input
};
[[nodiscard]] PassMessages pass_messages(const RankProgram& program, const Action& action);

}  // namespace stagewright
