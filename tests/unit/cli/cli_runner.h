#pragma once

#include <string>
#include <vector>

#include "cli/exit_code.h"

namespace stagewright {

/// What one call of the command left behind.
struct CliResult {
  ExitCode code = ExitCode::kSuccess;
  std::string out;
  std::string err;
};

/// Runs `stagewright ARGUMENTS...` in this process, without a terminal.
[[nodiscard]] CliResult run_stagewright(const std::vector<std::string>& arguments);

/// Path of a file in the source tree's examples/ folder.
[[nodiscard]] std::string example(const std::string& name);

}  // namespace stagewright
