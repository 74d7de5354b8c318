#pragma once

#include <optional>
#include <string_view>

#include "core/schedule/operation.h"

namespace stagewright {

/// The operation that cost_key(op) describes, as far as its cost goes: kind, variant, types, flags,
/// sizes and the numbers of its operands (whose tensors are unknown).  Nothing where the text is no
/// such key.
[[nodiscard]] std::optional<Operation> operation_of_key(std::string_view key);

}  // namespace stagewright
