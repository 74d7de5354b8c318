#include "core/plan/optimizer.h"

#include <array>
#include <cstddef>

namespace stagewright {

std::string_view name_of(OptimizerKind kind) {
  static constexpr std::array<std::string_view, 3> kNames = {"sgd", "adam", "adamw"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace stagewright
