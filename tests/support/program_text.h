#pragma once

#include <string>
#include <vector>

#include "core/schedule/rank_program.h"

namespace stagewright {

/// A list of operations as text, one a line: stream, kind, sizes, operands by name, flags.
[[nodiscard]] std::string text_of(const RankProgram& program, const std::vector<Operation>& ops);
/// Actions in one line, as core's to_string writes them.
[[nodiscard]] std::string text_of(const std::vector<Action>& actions);

}  // namespace stagewright
