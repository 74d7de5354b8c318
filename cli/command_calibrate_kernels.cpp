#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/measured_files.h"
#include "cli/output_files.h"
#include "cli/table.h"
#include "study/fit_kernels.h"

namespace stagewright {
namespace {

struct KernelsCommand {
  std::vector<std::string> files;
  std::vector<std::string> steps;
  std::string out;
};

std::string error_text(const KernelError& error) {
  return fmt::format("{:.1f} / {:.1f}", 100 * error.median, 100 * error.mean);
}

void print(std::ostream& out, const std::vector<KernelFit>& fits) {
  Table table({"device",
               "class",
               "type",
               "points",
               "groups",
               "learned",
               "calibrated",
               "scaled",
               "steps",
               "learned",
               "calibrated",
               "default"});
  for (const KernelFit& fit : fits) {
    table.add({fit.kernel.device,
               std::string(name_of(fit.kernel.op_class)),
               std::string(name_of(fit.kernel.dtype)),
               fmt::format("{}", fit.points),
               fmt::format("{}", fit.groups),
               error_text(fit.learned),
               error_text(fit.formula),
               error_text(fit.scaled),
               fmt::format("{}", fit.steps),
               fit.steps > 0 ? percent(fit.step_learned) : "",
               fit.steps > 0 ? percent(fit.step_formula) : "",
               fit.kernel.preferred ? "learned" : "calibrated"});
  }
  out << table.to_string()
      << "\nmedian / mean error in % on groups of shapes left out, then median error of the "
         "measured "
         "steps on the device\n";
}

ExitCode run(const Context& context, const KernelsCommand& command) {
  const auto files = context.files();
  if (!files) {
    return context.report(files.error());
  }
  const auto measured = read_kernels(command.files);
  if (!measured) {
    return context.report(measured.error());
  }
  const auto constants = load_step_constants(*files);
  if (!constants) {
    return context.report(constants.error());
  }
  auto fits = fit_kernels(*files, *measured, *constants);
  if (!fits) {
    return context.report(fits.error());
  }
  const auto steps = read_records(command.steps);
  if (!steps) {
    return context.report(steps.error());
  }
  if (const auto judged = judge_kernels(*files, *steps, *constants, *fits); !judged) {
    return context.report(judged.error());
  }
  std::vector<LearnedKernel> kernels;
  for (const KernelFit& fit : *fits) {
    kernels.push_back(fit.kernel);
  }
  if (!command.out.empty()) {
    const auto written =
        write_into_folder(command.out, "calibration/kernels.json", to_json_text(kernels));
    if (!written) {
      return context.report(written.error());
    }
  }
  if (context.json) {
    *context.out << to_json_text(kernels);
  } else {
    print(*context.out, *fits);
  }
  return ExitCode::kSuccess;
}

}  // namespace

void add_calibrate_kernels_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "calibrate-kernels", "Learn times of operations from measured shapes; against the formulas");
  auto options = std::make_shared<KernelsCommand>();
  command->add_option("files", options->files, "Measured kernels, one series a line")->required();
  command->add_option(
      "--steps",
      options->steps,
      "Measured records of training steps: a learned price is the default only where "
      "they are predicted no worse with it");
  command->add_option(
      "--out", options->out, "Write DIR/calibration/kernels.json; DIR then serves as --profiles");
  command->callback([options, &chosen] {
    chosen = [options](const Context& context) { return run(context, *options); };
  });
}

}  // namespace stagewright
