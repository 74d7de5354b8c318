#include <memory>
#include <ostream>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/json_text.h"
#include "core/base/file.h"
#include "core/cluster/link_json.h"
#include "study/fit_link.h"

namespace stagewright {
namespace {

struct LinkCommand {
  std::string log;
  std::string name = "measured";
  std::string bandwidth;
  std::int32_t nodes = 1;
  std::int32_t per_node = 8;
};

ExitCode run(const Context& context, const LinkCommand& command) {
  const auto text = read_file(command.log);
  if (!text) {
    return context.report(text.error());
  }
  const auto log = parse_nccl_tests(*text, command.log);
  if (!log) {
    return context.report(log.error());
  }
  const auto bandwidth = parse_bandwidth(command.bandwidth);
  if (!bandwidth || *bandwidth <= BytesPerSecond(0)) {
    return context.report({ErrorCode::kInvalidInput,
                           "needs the data sheet's bandwidth per device and direction, for "
                           "example \"300 GB/s\"",
                           "--bandwidth"});
  }
  if (command.nodes < 1 || command.per_node < 1 || command.nodes * command.per_node < 2) {
    return context.report({ErrorCode::kInvalidInput,
                           "a collective has two members or more",
                           "--nodes, --devices-per-node"});
  }
  const LinkFit fit = fit_link(
      *log, {.name = command.name, .bandwidth = *bandwidth}, command.nodes, command.per_node);
  if (context.json) {
    *context.out << json_text(to_json(fit.link));
  } else {
    *context.out << fmt::format(
        "{} of {} sizes on {} x {} devices: median error {:.1f} %\n"
        "as \"{}\" of a device or cluster file:\n{}",
        name_of(log->kind),
        log->points.size(),
        command.nodes,
        command.per_node,
        100 * fit.median_error,
        command.nodes > 1 ? "inter_node" : "intra_node",
        json_text(to_json(fit.link)));
  }
  return ExitCode::kSuccess;
}

}  // namespace

void add_calibrate_link_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "calibrate-link", "Fit a link of a device or cluster file to an nccl-tests log");
  auto options = std::make_shared<LinkCommand>();
  command->add_option("log", options->log, "Output of all_reduce_perf or a sibling")->required();
  command->add_option("--bandwidth", options->bandwidth, "Data sheet, per device and direction")
      ->required();
  command->add_option("--nodes", options->nodes, "Nodes of the run");
  command->add_option("--devices-per-node", options->per_node, "Devices of the run on each node");
  command->add_option("--name", options->name, "Name of the link");
  command->callback([options, &chosen] {
    chosen = [options](const Context& context) { return run(context, *options); };
  });
}

}  // namespace stagewright
