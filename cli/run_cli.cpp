#include "cli/run_cli.h"

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <ostream>
#include <span>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/output_files.h"
#include "cli/path_check.h"
#include "core/base/suggest.h"
#include "core/base/version.h"

namespace stagewright {
namespace {

constexpr std::array<AddCommand, 11> kCommands{&add_profile_command,
                                               &add_plan_command,
                                               &add_explain_command,
                                               &add_simulate_command,
                                               &add_run_command,
                                               &add_compare_command,
                                               &add_schedules_command,
                                               &add_validate_command,
                                               &add_calibrate_command,
                                               &add_calibrate_link_command,
                                               &add_calibrate_kernels_command};

constexpr const char* kFooter = R"(
The usual way through:
  stagewright profile  --model MODEL --ranks 2 --seq 128 --out profile.json   what this machine does
  stagewright plan     --model MODEL --cluster 1x2xcpu --profile profile.json
                       --global-batch 8 --seq 128 --out best.plan.json   the best plans
  stagewright simulate best.plan.json --profile profile.json --trace predicted.json
  stagewright run      best.plan.json --data docs --steps 20 --trace measured.json
  stagewright compare  predicted.json measured.json                    was it right?
`stagewright COMMAND --help` explains each; traces open in ui.perfetto.dev.

Exit codes: 0 success; 1 a check did not hold (compare --max-error, schedules check, lists and --memory-cap of
simulate); 2 wrong command line; 3 malformed, unknown or missing input; 4 nothing feasible; 5 not supported; 6 file could not
be read or written; 7 a run failed; 130 interrupted.)";

constexpr const char* kFooterOfCommands = R"(
With every command: --json prints the result as JSON; --profiles DIR lays a folder's files over the built-in
devices, clusters and models.  `stagewright --help` shows the usual way through and the exit codes.)";

/// Of all commands, and of those below them.
void set_footers(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    command->footer(kFooterOfCommands);
    set_footers(*command);
  }
}

std::string join(const std::vector<std::string>& arguments) {
  std::string line = "stagewright";
  for (const std::string& argument : arguments) {
    line += " " + argument;
  }
  return line;
}

/// A message when the first arguments are meant as a command, or as one below it, and are none.
std::optional<std::string> unknown_command(const CLI::App& app,
                                           std::span<const std::string> arguments,
                                           const std::string& above = {}) {
  std::vector<std::string> names;
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* command : commands) {
    names.push_back(command->get_name());
  }
  if (names.empty() || arguments.empty() || arguments.front().starts_with('-')) {
    return std::nullopt;
  }
  const std::string& name = arguments.front();
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) {
    return unknown_command(*commands[static_cast<std::size_t>(found - names.begin())],
                           arguments.subspan(1),
                           name + " ");
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return "no command is called '" + above + name + "'" + suggestion(name, views);
}

/// A wrong command line is told as JSON, too, where it asks for that.
ExitCode usage_error(const std::string& error,
                     const std::vector<std::string>& arguments,
                     std::ostream& out) {
  if (std::ranges::find(arguments, "--json") != arguments.end()) {
    out << json_text(error_json(error, ExitCode::kUsage));
  }
  return ExitCode::kUsage;
}

}  // namespace

ExitCode run_cli(const std::vector<std::string>& arguments,
                 std::ostream& out,
                 std::ostream& err,
                 const Terminal& terminal) {
  Context context{.out = &out, .err = &err, .terminal = terminal};
  context.command_line = join(arguments);

  CLI::App app(
      "Plans, simulates and runs the parallel training of large models, and holds the "
      "measured run against the prediction.",
      "stagewright");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string(version()));
  app.require_subcommand(1);
  app.fallthrough();
  app.add_flag("--json", context.json, "Print the result as JSON");
  app.add_option("--profiles",
                 context.profiles,
                 "Folder whose files replace or extend the built-in devices, clusters and models")
      ->check(path_given);
  Chosen chosen;
  for (const AddCommand add : kCommands) {
    add(app, chosen);
  }
  set_footers(app);
  if (const auto unknown = unknown_command(app, arguments)) {
    err << *unknown << "\nRun with --help for more information.\n";
    return usage_error(*unknown, arguments, out);
  }
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    const bool asked = error.get_exit_code() == 0;  // --help, --version
    app.exit(error, out, err);
    return asked ? ExitCode::kSuccess : usage_error(error.what(), arguments, out);
  }
  if (const auto checked = check_output_files(app); !checked) {
    const Error& error = checked.error();
    return context.report(error, error.code == ErrorCode::kIo ? ExitCode::kIo : ExitCode::kUsage);
  }
  try {
    return chosen(context);
  } catch (const std::exception& error) {
    return context.report(Error{ErrorCode::kBackendFailed, error.what(), {}});
  }
}

}  // namespace stagewright
