#include "cli/framework_option.h"

#include <CLI/CLI.hpp>

namespace stagewright {

void add_framework_option(CLI::App& command, std::string& framework) {
  command.add_option("--framework",
                     framework,
                     "Who runs the plan: megatron, megatron-lm, nemo, torchtitan, stagewright, ... "
                     "(profiles/frameworks; default: stagewright)");
}

}  // namespace stagewright
