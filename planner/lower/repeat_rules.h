#pragma once

#include "core/training/framework.h"

namespace stagewright {

/// What a stage's recomputation repeats of a layer.
struct RepeatRules {
  /// All of it, as autograd's checkpoints do; else what the backward reads.
  bool whole_layers = false;
  /// With `selective`: attention, whose scores are not kept otherwise.
  bool attention = true;
  friend bool operator==(const RepeatRules&, const RepeatRules&) = default;
};
/// As a framework does it.
[[nodiscard]] RepeatRules repeat_rules(const FrameworkProfile& framework, bool flash_attention);

}  // namespace stagewright
