#pragma once

#include <string>

#include "core/base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stagewright {

/// Adds an option that names a file to write.  Every such option is added by this, so that
/// check_output_files knows them all.
CLI::Option* add_output_option(CLI::App& command,
                               const std::string& name,
                               std::string& path,
                               const std::string& description);

/// Fails with kInvalidInput, naming both options, where a file that a parsed command line asks for
/// is also another one that it asks for, or one that it reads: writing would replace that.
/// Devices, pipes and "-" may be named twice.
[[nodiscard]] Result<void> check_output_files(const CLI::App& app);

}  // namespace stagewright
