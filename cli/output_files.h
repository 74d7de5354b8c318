#pragma once

#include <string>
#include <string_view>

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

/// Writes a file of an output that is a folder, "calibration/kernels.json" in `out`.  Makes that
/// folder and those in it; the one that it lies in must exist.
[[nodiscard]] Result<void> write_into_folder(const std::string& out,
                                             const std::string& name,
                                             std::string_view content);

/// Fails with kIo where the folder of a file to write does not exist: long work would be for
/// nothing.  Fails with kInvalidInput, naming both options, where a file that a parsed command line
/// asks for is also another one that it asks for, or one that it reads: writing would replace that.
/// Devices, pipes and "-" may be named twice.
[[nodiscard]] Result<void> check_output_files(const CLI::App& app);

}  // namespace stagewright
