#include "cli/list_report.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/table.h"

namespace stagewright {
namespace {

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

}  // namespace

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

std::string to_text(const OrderCheck& check, const ListPrices& prices) {
  if (check.fault) {
    return fmt::format("not valid: {}\n", check.fault->to_string());
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
  std::string out = table.to_string();
  out += fmt::format("\nvalid; makespan {:.6g}, bubble {}, as span {}\n",
                     prices.in_units(check.timing.makespan),
                     percent(check.timing.bubble_rate()),
                     percent(check.timing.span_bubble_rate()));
  if (check.queues.empty()) {
    return out;
  }
  Table queues({"transfers queue by", "makespan"});
  for (const auto& [model, timing] : check.queues) {
    queues.add({std::string(name_of(model)),
                timing.fault ? timing.fault->to_string()
                             : fmt::format("{:.6g}", prices.in_units(timing.makespan))});
  }
  return out + "\n" + queues.to_string();
}

}  // namespace stagewright
