#include "cli/calibrate_cluster.h"

#include <charconv>
#include <ostream>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/json_text.h"
#include "cli/output_files.h"
#include "cli/table.h"
#include "core/base/file.h"
#include "study/cluster_calibration.h"
#include "study/plan_inputs.h"

namespace stagewright {
namespace {

Result<void> read_size(const std::string& text, CollectiveRun& run) {
  const std::size_t between = text.find('x');
  const char* const end = text.data() + text.size();
  if (between != std::string::npos) {
    const char* const middle = text.data() + between;
    const auto nodes = std::from_chars(text.data(), middle, run.nodes);
    const auto devices = std::from_chars(middle + 1, end, run.per_node);
    if (nodes.ptr == middle && devices.ptr == end && run.nodes > 0 && run.per_node > 0) {
      return {};
    }
  }
  return fail(ErrorCode::kInvalidInput,
              fmt::format("'{}' is not NODESxDEVICES, for example 4x8", text),
              "--log-devices");
}

Result<ClusterMeasurements> read_measurements(const ClusterOptions& options,
                                              const std::vector<RecordLine>& steps) {
  ClusterMeasurements measured{.steps = steps, .device = options.device};
  auto profile = load_profile(options.profile);
  if (!profile) {
    return pass_on(std::move(profile));
  }
  measured.node = *std::move(profile);
  if (!options.logs.empty() && options.device.empty() && !measured.node) {
    return fail(ErrorCode::kInvalidInput, "name the device that the log was taken on", "--device");
  }
  if (options.log_sizes.size() > options.logs.size()) {
    return fail(ErrorCode::kInvalidInput, "there are more of them than logs", "--log-devices");
  }
  for (std::size_t i = 0; i < options.logs.size(); ++i) {
    const auto text = read_file(options.logs[i]);
    if (!text) {
      return tl::unexpected<Error>(text.error());
    }
    auto log = parse_nccl_tests(*text, options.logs[i]);
    if (!log) {
      return pass_on(std::move(log));
    }
    CollectiveRun run{.log = *std::move(log)};
    if (i < options.log_sizes.size()) {
      if (auto read = read_size(options.log_sizes[i], run); !read) {
        return pass_on(std::move(read));
      }
    }
    measured.collectives.push_back(std::move(run));
  }
  return measured;
}

void print(std::ostream& out, const ClusterCalibration& found) {
  for (const std::string& finding : found.findings) {
    out << finding << "\n";
  }
  if (found.moved.empty()) {
    return;
  }
  Table table({"constant", "value", "before"});
  for (const FittedConstant& constant : found.moved) {
    table.add({constant.name,
               fmt::format("{:.4g}", constant.value),
               fmt::format("{:.4g}", constant.prior)});
  }
  out << "\n" << table.to_string();
}

}  // namespace

void add_cluster_options(CLI::App& command, ClusterOptions& options) {
  command.add_flag("--own",
                   options.own,
                   "The records are a few logged steps of your cluster: start from the calibration "
                   "in use and move only what clusters differ in");
  command.add_option(
      "--profile", options.profile, "A `stagewright profile` of one node of your cluster");
  command.add_option(
      "--nccl-log", options.logs, "Output of all_reduce_perf or a sibling on your cluster");
  command.add_option(
      "--log-devices", options.log_sizes, "NODESxDEVICES of each log, in order (default: 1x8)");
  command.add_option("--device", options.device, "Device type of the logs");
}

ExitCode calibrate_own_cluster(const Context& context,
                               const ClusterOptions& options,
                               const std::vector<RecordLine>& steps,
                               const std::string& out) {
  const auto files = context.files();
  if (!files) {
    return context.report(files.error());
  }
  const auto measured = read_measurements(options, steps);
  if (!measured) {
    return context.report(measured.error());
  }
  const auto found = calibrate_cluster(*files, *measured);
  if (!found) {
    return context.report(found.error());
  }
  const std::string constants = to_json_text(found->constants);
  if (!out.empty()) {
    if (auto done = write_into_folder(out, "calibration/step_time.json", constants); !done) {
      return context.report(done.error());
    }
    if (found->device_file) {
      const auto& [name, content] = *found->device_file;
      if (auto done = write_into_folder(out, name, content); !done) {
        return context.report(done.error());
      }
    }
  }
  if (!context.json) {
    print(*context.out, *found);
    return ExitCode::kSuccess;
  }
  nlohmann::ordered_json json{{"step_time", nlohmann::ordered_json::parse(constants)},
                              {"findings", found->findings}};
  if (found->device_file) {
    json["device"] = nlohmann::ordered_json::parse(found->device_file->second);
  }
  *context.out << json_text(json);
  return ExitCode::kSuccess;
}

}  // namespace stagewright
