#include "cli/list_report.h"

#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/table.h"
#include "core/base/counted.h"

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

std::string sizes_text(const std::string& name,
                       std::size_t ranks,
                       std::int32_t stages,
                       std::int32_t micro_batches) {
  return fmt::format("{}: {}, {}, {}",
                     name,
                     counted(static_cast<std::int64_t>(ranks), "rank"),
                     counted(stages, "stage"),
                     counted(micro_batches, "micro-batch"));
}

std::string warnings_text(const std::vector<std::string>& warnings) {
  std::string text;
  for (const std::string& warning : warnings) {
    text += fmt::format("warning: {}\n", warning);
  }
  return text.empty() ? text : text + "\n";
}

nlohmann::json invalid_list_json(const std::string& error) {
  return {{"valid", false},
          {"error", error},
          {"makespan", nullptr},
          {"bubble", nullptr},
          {"bubble_rate", nullptr},
          {"span_bubble_rate", nullptr},
          {"idle_share", nlohmann::json::array()},
          {"peak_F_to_B", nlohmann::json::array()},
          {"peak_F_to_W", nlohmann::json::array()},
          {"queues", nlohmann::json::object()},
          {"runs", false}};
}

nlohmann::json to_json(const OrderCheck& check, const ListPrices& prices) {
  if (check.fault) {
    return invalid_list_json(check.fault->to_string());
  }
  return {{"valid", true},
          {"error", nullptr},
          {"makespan", prices.in_units(check.timing.makespan)},
          {"bubble", check.timing.bubble()},
          {"bubble_rate", check.timing.bubble_rate()},
          {"span_bubble_rate", check.timing.span_bubble_rate()},
          {"idle_share", check.timing.idle_share()},
          {"peak_F_to_B", check.peaks.to_backward},
          {"peak_F_to_W", check.peaks.to_weight},
          {"queues", queues_json(check, prices)},
          {"runs", check.queues.empty() ? nlohmann::json() : nlohmann::json(check.runs())}};
}

namespace {

/// Faults of the queue models, those of several models once: "rank, pair: deadlock: ...".
std::string faults_text(const OrderCheck& check) {
  std::map<std::string, std::string> models;
  for (const auto& [model, timing] : check.queues) {
    if (timing.fault) {
      std::string& names = models[timing.fault->to_string()];
      names += (names.empty() ? "" : ", ") + std::string(name_of(model));
    }
  }
  std::string text;
  for (const auto& [fault, names] : models) {
    text += fmt::format("{}: {}\n", names, fault);
  }
  return text;
}

std::string queues_text(const OrderCheck& check, const ListPrices& prices) {
  Table queues({"transfers queue by", "makespan"});
  for (const auto& [model, timing] : check.queues) {
    queues.add({std::string(name_of(model)),
                timing.fault ? std::string(name_of(timing.fault->kind))
                             : fmt::format("{:.6g}", prices.in_units(timing.makespan))});
  }
  const std::string faults = faults_text(check);
  if (faults.empty()) {
    return queues.to_string();
  }
  return queues.to_string() +
         (check.runs() ? "\nwarning: the list does not run where its transfers queue by\n"
                       : "\ncannot run: the list gets to its end under no queue model\n") +
         faults;
}

}  // namespace

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
  out += fmt::format(
      "\nvalid; makespan {:.6g}, bubble {}; the busiest rank is idle for {}, of its span for {}\n",
      prices.in_units(check.timing.makespan),
      percent(check.timing.bubble()),
      percent(check.timing.bubble_rate()),
      percent(check.timing.span_bubble_rate()));
  if (check.queues.empty()) {
    return out;
  }
  return out + "\n" + queues_text(check, prices);
}

}  // namespace stagewright
