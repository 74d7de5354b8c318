#pragma once

#include <algorithm>
#include <cstdint>

#include "core/schedule/action.h"

namespace stagewright {

/// Counts the activations, micro-batches of a stage, that a rank holds over its actions.
class HeldActivations {
 public:
  void add(ActionKind kind) {
    const bool whole = kind == ActionKind::kBackward;
    const std::int32_t taken = kind == ActionKind::kForward ? 1 : 0;
    to_backward_ += taken - (whole || kind == ActionKind::kBackwardInput ? 1 : 0);
    to_weight_ += taken - (whole || kind == ActionKind::kBackwardWeight ? 1 : 0);
    most_to_backward_ = std::max(most_to_backward_, to_backward_);
    most_to_weight_ = std::max(most_to_weight_, to_weight_);
  }

  [[nodiscard]] std::int32_t to_weight() const { return to_weight_; }  ///< now, from F until B or W
  [[nodiscard]] std::int32_t most_to_backward() const { return most_to_backward_; }
  [[nodiscard]] std::int32_t most_to_weight() const { return most_to_weight_; }

 private:
  std::int32_t to_backward_ = 0;
  std::int32_t to_weight_ = 0;
  std::int32_t most_to_backward_ = 0;
  std::int32_t most_to_weight_ = 0;
};

}  // namespace stagewright
