#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "cli/run_cli.h"

int main(int count, char** values) {
  const std::vector<std::string> arguments(values + 1, values + count);
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  return static_cast<int>(stagewright::run_cli(arguments, std::cout, std::cerr, terminal));
}
