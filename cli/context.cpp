#include "cli/context.h"

#include <ostream>

#include <nlohmann/json.hpp>

#include "cli/json_text.h"

namespace stagewright {

Result<DataFiles> Context::files() const {
  return profiles.empty() ? Result<DataFiles>(DataFiles::embedded())
                          : DataFiles::with_overrides(profiles);
}

ExitCode Context::report(const Error& error) const {
  return report(error, exit_code_of(error.code));
}

ExitCode Context::report(const Error& error, ExitCode code) const {
  progress("");
  *err << "error: " << error.to_string() << "\n";
  if (json) {
    *out << json_text(error_json(error.to_string(), code));
  }
  return code;
}

void Context::progress(std::string_view text) const {
  if (terminal.progress) {
    *err << "\r\033[K" << text << std::flush;
  }
}

}  // namespace stagewright
