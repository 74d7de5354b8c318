/// The steps of scripts/gpu_check.sh, each of which writes FOLDER/NAME.step.json:
///
///   gpu_check machine|kernels|losses|speed-MODEL --folder FOLDER [--small]
///   gpu_check prediction --folder FOLDER --comparison FILE
///   gpu_check nccl --folder FOLDER --runs FOLDER --plan PLAN ...
///   gpu_check note NAME STATUS TEXT --folder FOLDER      for what ran elsewhere, or did not
///   gpu_check device-type                                prints the type of the first device
///   gpu_check device-count                               prints how many there are, maybe 0
///   gpu_check libraries                                  prints variable and file name of each
///   gpu_check report --folder FOLDER --out FOLDER --expect STEP ...
///
/// Exit codes: 0 the step passed, 1 it failed, 3 there is no GPU (`machine`, `device-type`).
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/base/data_files.h"
#include "core/cluster/cluster.h"
#include "runtime/libraries/cublas_lt_library.h"
#include "runtime/libraries/cuda_devices.h"
#include "runtime/libraries/cuda_library.h"
#include "runtime/libraries/nccl_library.h"
#include "steps.h"

namespace stagewright::gpu_check {
namespace {

constexpr int kFailed = 1;
constexpr int kNoDevice = 3;

struct Arguments {
  std::string folder = ".";
  std::string comparison;
  std::string out;
  std::vector<std::string> expected;
  std::vector<std::string> note;
  std::string runs;
  std::vector<std::string> plans;
  StepOptions options;
};

int leave(const Error& error, int code) {
  std::cerr << "error: " << error.to_string() << '\n';
  return code;
}

/// Keeps what a step found; one that could not even begin has failed.
int keep(const std::string& name, const Arguments& arguments, Result<StepResult> made) {
  StepResult result =
      made ? *std::move(made)
           : StepResult{.step = name, .status = "failed", .summary = made.error().to_string()};
  if (auto saved = save(result, arguments.folder); !saved) {
    return leave(saved.error(), kFailed);
  }
  std::cout << fmt::format("{}: {}: {}\n", result.step, result.status, result.summary);
  return result.status == "failed" ? kFailed : 0;
}

int print_device_count() {
  const auto machine = find_cuda_machine();
  std::cout << (machine ? machine->devices.size() : 0) << '\n';
  return 0;
}

int print_libraries() {
  for (const LibraryName& name :
       {cuda_library_name(), cublas_lt_library_name(), nccl_library_name()}) {
    std::cout << name.variable << ' ' << name.file << '\n';
  }
  return 0;
}

int print_device_type() {
  const auto machine = find_cuda_machine();
  if (!machine) {
    return leave(machine.error(), kNoDevice);
  }
  const auto type = find_device(DataFiles::embedded(), machine->devices.front().name);
  if (!type) {
    return leave(type.error(), kFailed);
  }
  std::cout << type->name << '\n';
  return 0;
}

int report(const Arguments& arguments) {
  const auto written = write_report(arguments.folder, arguments.expected, arguments.out);
  if (!written) {
    return leave(written.error(), kFailed);
  }
  std::cout << "wrote " << *written << " and the JSON file beside it\n";
  return 0;
}

int run(const std::string& step, const Arguments& arguments) {
  if (step == "machine") {
    auto described = describe_machine();
    return described ? keep(step, arguments, std::move(described))
                     : leave(described.error(), kNoDevice);
  }
  if (step == "kernels") {
    return keep(step, arguments, check_kernels(arguments.options));
  }
  if (step == "losses") {
    return keep(step, arguments, check_losses(arguments.options));
  }
  if (step == "prediction") {
    return keep(step, arguments, judge_prediction(arguments.comparison, arguments.options));
  }
  if (step == "nccl") {
    return keep(step, arguments, check_nccl(arguments.runs, arguments.plans));
  }
  if (step == "note") {
    const std::vector<std::string>& note = arguments.note;
    return keep(
        note[0], arguments, StepResult{.step = note[0], .status = note[1], .summary = note[2]});
  }
  if (step == "device-type") {
    return print_device_type();
  }
  if (step == "device-count") {
    return print_device_count();
  }
  if (step == "libraries") {
    return print_libraries();
  }
  if (step == "report") {
    return report(arguments);
  }
  return keep(
      step, arguments, time_model(step.substr(std::string("speed-").size()), arguments.options));
}

int main_of(int count, char** values) {
  CLI::App app("The steps of scripts/gpu_check.sh");
  app.require_subcommand(1);
  Arguments arguments;
  std::vector<std::string> names = {"machine",
                                    "kernels",
                                    "losses",
                                    "prediction",
                                    "nccl",
                                    "note",
                                    "device-type",
                                    "device-count",
                                    "libraries",
                                    "report"};
  for (const std::string& model : timed_models()) {
    names.push_back("speed-" + model);
  }
  for (const std::string& name : names) {
    CLI::App* const step = app.add_subcommand(name);
    step->add_option("--folder", arguments.folder)->check(CLI::ExistingDirectory);
    step->add_flag("--small", arguments.options.small);
    if (name == "prediction") {
      step->add_option("--comparison", arguments.comparison)->required();
    } else if (name == "nccl") {
      step->add_option("--runs", arguments.runs)->required();
      step->add_option("--plan", arguments.plans)->required();
    } else if (name == "note") {
      step->add_option("note", arguments.note)->expected(3)->required();
    } else if (name == "report") {
      step->add_option("--out", arguments.out)->required();
      step->add_option("--expect", arguments.expected)->required();
    }
  }
  CLI11_PARSE(app, count, values);
  return run(app.get_subcommands().front()->get_name(), arguments);
}

}  // namespace
}  // namespace stagewright::gpu_check

int main(int count, char** values) {
  return stagewright::gpu_check::main_of(count, values);
}
