#include "cli_runner.h"

#include <sstream>

#include "cli/run_cli.h"
#include "tests/support/source_folder.h"

namespace stagewright {

CliResult run_stagewright(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const ExitCode code = run_cli(arguments, out, err, Terminal{});
  return {code, out.str(), err.str()};
}

std::string example(const std::string& name) {
  return (source_folder() / "examples" / name).string();
}

}  // namespace stagewright
