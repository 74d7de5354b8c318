#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "core/base/data_files.h"
#include "core/base/result.h"

namespace stagewright {

/// What every command gets.
struct Context {
  std::ostream* out;     ///< results
  std::ostream* err;     ///< progress, warnings, errors
  Terminal terminal{};   ///< what `out` and `err` can show
  bool json = false;     ///< results as JSON
  std::string profiles;  ///< --profiles folder; empty: the embedded data alone
  std::string command_line;

  /// The data files with the user's folder over them.
  [[nodiscard]] Result<DataFiles> files() const;
  /// Prints "error: where: message" to `err`, under --json also {"error": "where: message",
  /// "exit_code"} to `out`, and gives the exit code that belongs to it.
  [[nodiscard]] ExitCode report(const Error& error) const;
  /// The same with another exit code.
  [[nodiscard]] ExitCode report(const Error& error, ExitCode code) const;
  /// One line that replaces the previous one, on a terminal only.  Empty text clears it.
  void progress(std::string_view text) const;
};

}  // namespace stagewright
