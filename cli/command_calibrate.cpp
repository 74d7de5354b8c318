#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/calibrate_cluster.h"
#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/measured_files.h"
#include "cli/output_files.h"
#include "cli/path_check.h"
#include "cli/table.h"
#include "study/calibrate.h"
#include "study/fit_memory.h"
#include "study/leave_one_out.h"

namespace stagewright {
namespace {

struct CalibrateCommand {
  std::vector<std::string> files;
  std::vector<std::string> without;
  std::string out;
  bool keep_band = false;
  ClusterOptions cluster;
};

std::string joined(const std::vector<std::string>& names, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < std::min(count, names.size()); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return text;
}

void print(std::ostream& out, const Calibration& calibration, const MemoryFit& memory) {
  Table table({"constant", "value", "loss up 2 %", "prior", "moved by"});
  for (const FittedConstant& fitted : calibration.fitted) {
    table.add({fitted.name,
               fmt::format("{:.4g}", fitted.value),
               fmt::format("{:.3g} to {:.3g}", fitted.low, fitted.high),
               fmt::format("{:.4g}", fitted.prior),
               joined(fitted.sources, 3)});
  }
  for (const FittedMemoryConstant& fitted : memory.fitted) {
    const auto& info = memory_constant_infos()[static_cast<std::size_t>(fitted.constant)];
    table.add({std::string(info.name),
               fmt::format("{:.4g}", fitted.value),
               fmt::format("{:.3g} to {:.3g}", fitted.low, fitted.high),
               fmt::format("{:.4g}", info.prior),
               joined(fitted.sources, 3)});
  }
  out << table.to_string();
  out << fmt::format("\n{} constants of the step time from {} records of {} sources\n",
                     calibration.fitted.size(),
                     calibration.records,
                     calibration.sources.size());
  if (!calibration.undetermined.empty()) {
    out << "no record moves: " << joined(calibration.undetermined, calibration.undetermined.size())
        << "\n";
  }
}

/// Both files as one object; each is what --out writes.
nlohmann::ordered_json to_json(const Calibration& calibration, const MemoryFit& memory) {
  return {{"step_time", nlohmann::ordered_json::parse(to_json_text(calibration.constants))},
          {"memory", nlohmann::ordered_json::parse(to_json_text(memory.constants))}};
}

/// The band comes from predictions of sources not seen.
Result<void> set_band(const Context& context,
                      const DataFiles& files,
                      const std::vector<RecordLine>& records,
                      const CalibrateCommand& command,
                      Calibration& calibration) {
  std::vector<RecordLine> used;
  std::ranges::copy_if(records, std::back_inserter(used), [&](const RecordLine& line) {
    return std::ranges::find(command.without, line.dataset) == command.without.end();
  });
  context.progress("calibrating without each source in turn");
  auto rows = leave_one_out(files, used, {});
  context.progress("");
  if (!rows) {
    return pass_on(std::move(rows));
  }
  calibration.constants.band = fit_band(*rows);
  return {};
}

ExitCode run(const Context& context, const CalibrateCommand& command) {
  const auto files = context.files();
  if (!files) {
    return context.report(files.error());
  }
  const auto records = read_records(command.files);
  if (!records) {
    return context.report(records.error());
  }
  if (command.cluster.any()) {
    return calibrate_own_cluster(context, command.cluster, *records, command.out);
  }
  if (records->empty()) {
    return context.report({ErrorCode::kInvalidInput,
                           "needs files of measured records, or --profile or --nccl-log of your "
                           "cluster",
                           "calibrate"});
  }
  auto calibration = calibrate(*files, *records, {.without = command.without});
  if (!calibration) {
    return context.report(calibration.error());
  }
  if (!command.keep_band && calibration->sources.size() > 2) {
    if (const auto done = set_band(context, *files, *records, command, *calibration); !done) {
      return context.report(done.error());
    }
  }
  const MemoryFit memory = fit_memory(*files, *records, command.without);
  if (!command.out.empty()) {
    for (const auto& [name, content] :
         {std::pair{"calibration/step_time.json", to_json_text(calibration->constants)},
          std::pair{"calibration/memory.json", to_json_text(memory.constants)}}) {
      if (const auto written = write_into_folder(command.out, name, content); !written) {
        return context.report(written.error());
      }
    }
  }
  if (context.json) {
    *context.out << json_text(to_json(*calibration, memory));
  } else {
    print(*context.out, *calibration, memory);
  }
  return ExitCode::kSuccess;
}

}  // namespace

void add_calibrate_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("calibrate", "Fit the constants of step time and memory to measured runs");
  auto options = std::make_shared<CalibrateCommand>();
  command->add_option("files", options->files, "Measured records, one JSON object a line");
  add_cluster_options(*command, options->cluster);
  command->add_option("--without", options->without, "Sources (datasets) to leave out");
  command
      ->add_option(
          "--out", options->out, "Write DIR/calibration/*.json; DIR then serves as --profiles")
      ->check(path_given);
  command->add_flag("--keep-band",
                    options->keep_band,
                    "Keep the default error band: do not calibrate without each source in turn");
  command->callback([options, &chosen] {
    chosen = [options](const Context& context) { return run(context, *options); };
  });
}

}  // namespace stagewright
