#pragma once

#include <functional>

#include "cli/context.h"

namespace CLI {
class App;
}  // namespace CLI

namespace stagewright {

/// A command adds its options to `app` and leaves in `chosen` what is to run when it was the one.
/// To add a command: one file with such a function, and its line in run_cli.cpp.
using Chosen = std::function<ExitCode(const Context&)>;
using AddCommand = void (*)(CLI::App& app, Chosen& chosen);

void add_plan_command(CLI::App& app, Chosen& chosen);
void add_simulate_command(CLI::App& app, Chosen& chosen);
void add_profile_command(CLI::App& app, Chosen& chosen);
void add_run_command(CLI::App& app, Chosen& chosen);
void add_compare_command(CLI::App& app, Chosen& chosen);
void add_validate_command(CLI::App& app, Chosen& chosen);
void add_calibrate_command(CLI::App& app, Chosen& chosen);
void add_calibrate_kernels_command(CLI::App& app, Chosen& chosen);
void add_calibrate_link_command(CLI::App& app, Chosen& chosen);
void add_explain_command(CLI::App& app, Chosen& chosen);
void add_schedules_command(CLI::App& app, Chosen& chosen);
/// Of `schedules`.
void add_schedules_check_command(CLI::App& app, Chosen& chosen);
void add_schedules_compare_command(CLI::App& app, Chosen& chosen);
void add_schedules_synthesise_command(CLI::App& app, Chosen& chosen);

}  // namespace stagewright
