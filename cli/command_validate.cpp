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
#include "core/base/file.h"
#include "study/accuracy_markdown.h"
#include "study/calibrate.h"
#include "study/fit_kernels.h"
#include "study/fit_memory.h"
#include "study/leave_one_out.h"
#include "study/validate.h"

namespace stagewright {
namespace {

struct ValidateCommand {
  std::string file;
  std::string markdown;
  std::vector<std::string> kernels;
  bool unseen = false;
  std::size_t worst = 20;
};

std::string share_text(const std::optional<double>& share) {
  return share ? percent(*share) : std::string();
}

void print_sources(std::ostream& out, const AccuracyReport& report) {
  Table table({"source",
               "records",
               "skipped",
               "(time only)",
               "timed",
               "median",
               "mean",
               "within 10 %",
               "bias",
               "in band",
               "noise floor",
               "memory",
               "median",
               "OOM right",
               "wrong"});
  for (const SourceAccuracy& source : report.sources) {
    table.add({source.name,
               fmt::format("{}", source.records),
               fmt::format("{}", source.skipped),
               fmt::format("{}", source.time_skipped),
               fmt::format("{}", source.time_records),
               share_text(source.time_median_ape),
               share_text(source.time_mean_ape),
               share_text(source.time_within_10pct),
               source.time_bias ? signed_percent(*source.time_bias) : std::string(),
               share_text(source.band_coverage),
               share_text(source.noise_floor),
               fmt::format("{}", source.memory_records),
               share_text(source.memory_median_ape),
               fmt::format("{}", source.oom_right),
               fmt::format("{}", source.oom_wrong)});
  }
  out << table.to_string();
}

void print_groups(std::ostream& out, const AccuracyReport& report) {
  Table table({"competing plans of", "groups", "mean rank correlation", "mean regret", "largest"});
  bool any = false;
  for (const SourceAccuracy& source : report.sources) {
    double correlation = 0;
    double regret = 0;
    double largest = 0;
    for (const PlanGroup& group : source.groups) {
      correlation += group.spearman;
      regret += group.regret;
      largest = std::max(largest, group.regret);
    }
    const auto count = static_cast<double>(source.groups.size());
    if (count > 0) {
      any = true;
      table.add({source.name,
                 fmt::format("{}", source.groups.size()),
                 fmt::format("{:.2f}", correlation / count),
                 percent(regret / count),
                 percent(largest)});
    }
  }
  if (any) {
    out << "\n" << table.to_string();
  }
}

void print_worst(std::ostream& out, const AccuracyReport& report, std::size_t count) {
  Table table({"worst records", "predicted s", "measured s", "error", "largest terms, %"});
  for (const AccuracyRow* row : worst_rows(report, count)) {
    table.add({row->id,
               fmt::format("{:.4g}", *row->predicted_seconds),
               fmt::format("{:.4g}", *row->measured_seconds),
               signed_percent(*row->predicted_seconds / *row->measured_seconds - 1),
               largest_terms(*row, 4)});
  }
  out << "\n" << table.to_string();
}

void print_skipped(std::ostream& out, const AccuracyReport& report) {
  Table table({"not judged", "why"});
  bool any = false;
  for (const AccuracyRow& row : report.rows) {
    const std::string reason = not_judged(row);
    if (!reason.empty()) {
      any = true;
      table.add({row.id, reason});
    }
  }
  if (any) {
    out << "\n" << table.to_string();
  }
}

void print_assumed(std::ostream& out, const AccuracyReport& report) {
  Table table({"assumed", "records"});
  const auto counts = assumption_counts(report);
  for (const auto& [assumption, count] : counts) {
    table.add({assumption, fmt::format("{}", count)});
  }
  if (!counts.empty()) {
    out << "\n" << table.to_string();
  }
}

Result<AccuracyReport> unseen_report(const Context& context,
                                     const DataFiles& files,
                                     const std::vector<RecordLine>& records,
                                     const StepBand& band) {
  context.progress("calibrating without each source in turn");
  auto rows = leave_one_out(files, records, band);
  context.progress("");
  if (!rows) {
    return pass_on(std::move(rows));
  }
  return summarize(*std::move(rows));
}

/// Of the measured kernels given, beside the calibrated ones; none without any.
Result<std::vector<KernelFit>> learned_prices(const DataFiles& files,
                                              const std::vector<RecordLine>& records,
                                              const StepConstants& constants,
                                              const ValidateCommand& command) {
  if (command.kernels.empty()) {
    return std::vector<KernelFit>();
  }
  const auto measured = read_kernels(command.kernels);
  if (!measured) {
    return tl::unexpected<Error>(measured.error());
  }
  auto fits = fit_kernels(files, *measured, constants);
  if (!fits) {
    return fits;
  }
  if (auto judged = judge_kernels(files, records, constants, *fits); !judged) {
    return pass_on(std::move(judged));
  }
  return fits;
}

Result<void> write_markdown(const Context& context,
                            const DataFiles& files,
                            const std::vector<RecordLine>& records,
                            const AccuracyReport& seen,
                            const StepConstants& constants,
                            const ValidateCommand& command) {
  // What may be wrong with a file is said before the long work.
  auto kernels = learned_prices(files, records, constants, command);
  if (!kernels) {
    return pass_on(std::move(kernels));
  }
  auto unseen = unseen_report(context, files, records, constants.band);
  if (!unseen) {
    return pass_on(std::move(unseen));
  }
  auto calibration = calibrate(files, records, {});
  if (!calibration) {
    return pass_on(std::move(calibration));
  }
  calibration->constants = constants;
  return write_file(command.markdown,
                    accuracy_markdown({.seen = seen,
                                       .unseen = *std::move(unseen),
                                       .calibration = *std::move(calibration),
                                       .memory = fit_memory(files, records, {}),
                                       .kernels = *std::move(kernels)}));
}

ExitCode run(const Context& context, const ValidateCommand& command) {
  const auto files = context.files();
  if (!files) {
    return context.report(files.error());
  }
  const auto text = read_file(command.file);
  if (!text) {
    return context.report(text.error());
  }
  const auto constants = load_step_constants(*files);
  if (!constants) {
    return context.report(constants.error());
  }
  const auto memory_constants = load_memory_constants(*files);
  if (!memory_constants) {
    return context.report(memory_constants.error());
  }
  const std::vector<RecordLine> records = parse_measured_records(*text);
  if (records.empty()) {
    return context.report(
        {ErrorCode::kInvalidInput, "holds no record; write one JSON object a line", command.file});
  }
  auto report = command.unseen ? unseen_report(context, *files, records, constants->band)
                               : validate(*files, records, *constants, *memory_constants);
  if (!report) {
    return context.report(report.error());
  }
  if (!command.markdown.empty()) {
    const auto written = write_markdown(context, *files, records, *report, *constants, command);
    if (!written) {
      return context.report(written.error());
    }
  }
  if (context.json) {
    *context.out << to_json_text(*report) << "\n";
    return ExitCode::kSuccess;
  }
  print_sources(*context.out, *report);
  print_groups(*context.out, *report);
  print_worst(*context.out, *report, command.worst);
  print_skipped(*context.out, *report);
  print_assumed(*context.out, *report);
  return ExitCode::kSuccess;
}

}  // namespace

void add_validate_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "validate", "Hold predictions of step time and memory against published measurements");
  auto options = std::make_shared<ValidateCommand>();
  command->add_option("file", options->file, "Measured records, one JSON object a line")
      ->required();
  command->add_flag("--leave-one-out",
                    options->unseen,
                    "Predict each source with constants calibrated without it");
  command->add_option("--worst", options->worst, "How many of the worst records to list");
  add_output_option(*command,
                    "--markdown",
                    options->markdown,
                    "Write the whole report, with both ways of calibrating, to this file")
      ->excludes("--leave-one-out");
  command->add_option("--kernels",
                      options->kernels,
                      "With --markdown: measured kernels, for the learned prices beside the "
                      "calibrated ones");
  command->callback([options, &chosen] {
    chosen = [options](const Context& context) { return run(context, *options); };
  });
}

}  // namespace stagewright
