#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/terminal.h"

namespace stagewright {

/// The whole command `stagewright ARGUMENTS...`: parses, runs one command, prints to `out` and
/// `err`.  `terminal` says what these can show.  No exceptions, no exit.
[[nodiscard]] ExitCode run_cli(const std::vector<std::string>& arguments,
                               std::ostream& out,
                               std::ostream& err,
                               const Terminal& terminal);

}  // namespace stagewright
