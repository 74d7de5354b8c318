#include "cli/context.h"

#include <ostream>

namespace stagewright {

Result<DataFiles> Context::files() const {
  return profiles.empty() ? Result<DataFiles>(DataFiles::embedded())
                          : DataFiles::with_overrides(profiles);
}

ExitCode Context::report(const Error& error) const {
  progress("");
  *err << "error: " << error.to_string() << "\n";
  return exit_code_of(error.code);
}

void Context::progress(std::string_view text) const {
  if (terminal.progress) {
    *err << "\r\033[K" << text << std::flush;
  }
}

}  // namespace stagewright
