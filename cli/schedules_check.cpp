#include <memory>
#include <ostream>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/schedule_costs.h"
#include "cli/table.h"
#include "core/base/file.h"
#include "formats/pytorch_csv.h"
#include "formats/schedule_vector.h"
#include "sim/analysis/order_check.h"

namespace stagewright {
namespace {

struct CheckCommand {
  std::string file;
  CostOptions costs;
};

/// By what the file holds, not by its name: a vector is a JSON object.
Result<TokenList> load_list(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (!text) {
    return pass_on(std::move(text));
  }
  const std::size_t first = text->find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && (*text)[first] == '{' &&
                    text->find('"', first) != std::string::npos;
  return json ? parse_schedule_vector(*text, path) : parse_pytorch_csv(*text, path);
}

nlohmann::json queues_json(const OrderCheck& check, const ListPrices& prices) {
  nlohmann::json queues = nlohmann::json::object();
  for (const auto& [model, timing] : check.queues) {
    const std::string name(name_of(model));
    if (timing.fault) {
      queues[name] = name_of(timing.fault->kind);
    } else {
      queues[name] = prices.in_units(timing.makespan);
    }
  }
  return queues;
}

nlohmann::json to_json(const OrderCheck& check, const ListPrices& prices) {
  if (check.fault) {
    return {{"valid", false},
            {"error", check.fault->to_string()},
            {"makespan", nullptr},
            {"bubble_rate", nullptr},
            {"span_bubble_rate", nullptr},
            {"idle_share", nlohmann::json::array()},
            {"peak_F_to_B", nlohmann::json::array()},
            {"peak_F_to_W", nlohmann::json::array()},
            {"queues", nlohmann::json::object()}};
  }
  return {{"valid", true},
          {"error", nullptr},
          {"makespan", prices.in_units(check.timing.makespan)},
          {"bubble_rate", check.timing.bubble_rate()},
          {"span_bubble_rate", check.timing.span_bubble_rate()},
          {"idle_share", check.timing.idle_share()},
          {"peak_F_to_B", check.peaks.to_backward},
          {"peak_F_to_W", check.peaks.to_weight},
          {"queues", queues_json(check, prices)}};
}

void print(std::ostream& out, const OrderCheck& check, const ListPrices& prices) {
  if (check.fault) {
    out << fmt::format("not valid: {}\n", check.fault->to_string());
    return;
  }
  Table table({"rank", "busy", "idle", "activations to B", "activations to W"});
  const std::vector<double> idle = check.timing.idle_share();
  for (std::size_t rank = 0; rank < idle.size(); ++rank) {
    table.add({fmt::format("{}", rank),
               fmt::format("{:.6g}", prices.in_units(check.timing.busy[rank])),
               percent(idle[rank]),
               fmt::format("{}", check.peaks.to_backward[rank]),
               fmt::format("{}", check.peaks.to_weight[rank])});
  }
  out << table.to_string();
  out << fmt::format("\nvalid; makespan {:.6g}, bubble {}, as span {}\n",
                     prices.in_units(check.timing.makespan),
                     percent(check.timing.bubble_rate()),
                     percent(check.timing.span_bubble_rate()));
  if (check.queues.empty()) {
    return;
  }
  Table queues({"transfers queue by", "makespan"});
  for (const auto& [model, timing] : check.queues) {
    queues.add({std::string(name_of(model)),
                timing.fault ? timing.fault->to_string()
                             : fmt::format("{:.6g}", prices.in_units(timing.makespan))});
  }
  out << "\n" << queues.to_string();
}

ExitCode run(const Context& context, const CheckCommand& command) {
  const auto list = load_list(command.file);
  if (!list) {
    return context.report(list.error());
  }
  const auto prices = prices_for(command.costs, *list);
  if (!prices) {
    return context.report(prices.error());
  }
  const OrderCheck check = check_order(*list, prices->costs);
  if (context.json) {
    *context.out << to_json(check, *prices).dump(2) << "\n";
  } else {
    print(*context.out, check, *prices);
  }
  return check.fault ? ExitCode::kCheckFailed : ExitCode::kSuccess;
}

}  // namespace

void add_schedules_check_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "check",
      "Check a schedule's list, its own or another program's: structure, times, peaks, deadlocks");
  auto options = std::make_shared<CheckCommand>();
  command
      ->add_option(
          "file", options->file, "Schedule vector (JSON) or CSV of torch.distributed.pipelining")
      ->required();
  add_cost_options(*command, options->costs);
  command->callback([options, &chosen] {
    chosen = [options](const Context& context) { return run(context, *options); };
  });
}

}  // namespace stagewright
