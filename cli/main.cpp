#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "cli/run_cli.h"

int main(int count, char** values) {
  const std::vector<std::string> arguments(values + 1, values + count);
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  const stagewright::ExitCode code =
      stagewright::run_cli(arguments, std::cout, std::cerr, terminal);
  if (!std::cout.flush()) {
    std::cerr << "error: standard output: cannot write the result; check the free space and what "
                 "reads it\n";
    return static_cast<int>(stagewright::ExitCode::kIo);
  }
  return static_cast<int>(code);
}
