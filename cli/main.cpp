#include <iostream>
#include <string>
#include <vector>

#include "cli/run_cli.h"
#include "cli/terminal.h"

int main(int count, char** values) {
  const std::vector<std::string> arguments(values + 1, values + count);
  const stagewright::ExitCode code =
      stagewright::run_cli(arguments, std::cout, std::cerr, stagewright::this_terminal());
  if (!std::cout.flush()) {
    std::cerr << "error: standard output: cannot write the result; check the free space and what "
                 "reads it\n";
    return static_cast<int>(stagewright::ExitCode::kIo);
  }
  return static_cast<int>(code);
}
