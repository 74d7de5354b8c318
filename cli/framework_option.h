#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace stagewright {

/// Adds `--framework`: who runs the plan (default: this project's executor).
void add_framework_option(CLI::App& command, std::string& framework);

}  // namespace stagewright
