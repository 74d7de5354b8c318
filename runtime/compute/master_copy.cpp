#include "runtime/compute/master_copy.h"

namespace stagewright {

std::optional<std::size_t> master_output(const Operation& operation,
                                         const OptimizerSpec& optimizer) {
  std::size_t index = 0;
  if (operation.kind == OpKind::kAdamWStep) {
    index = 3;
  } else if (operation.kind == OpKind::kSgdStep) {
    index = optimizer.momentum != 0 ? 2 : 1;
  } else {
    return std::nullopt;
  }
  return index < operation.outputs.size() ? std::optional(index) : std::nullopt;
}

}  // namespace stagewright
