#include "gui/models/plan_setup.h"

#include <utility>

#include <fmt/format.h>

#include "formats/model_file.h"
#include "planner/search/constraint.h"
#include "planner/search/objective.h"

namespace stagewright::gui {
namespace {

Error in_field(Error error, const char* field) {
  if (error.where.empty()) {
    error.where = field;
  }
  return error;
}

Result<Objective> objective_of(const PlanSetup& setup) {
  const auto aim = parse_aim(setup.aim);
  if (!aim) {
    return tl::unexpected<Error>(aim.error());
  }
  Objective objective{.aim = *aim, .device_hour = {}, .device_watts = {}};
  if (setup.device_hour > 0) {
    objective.device_hour = setup.device_hour;
  }
  if (setup.device_watts > 0) {
    objective.device_watts = setup.device_watts;
  }
  return objective;
}

Result<std::string> constraints_of(const PlanSetup& setup) {
  std::string text;
  for (const auto& [name, values] : setup.constraints) {
    if (values.empty()) {
      continue;
    }
    Constraints alone;
    if (auto done = constrain(alone, name, values); !done) {
      return pass_on(std::move(done));
    }
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, values);
  }
  return text;
}

std::string quoted(const std::string& word) {
  return word.find_first_of(" *?'\"\\$&;()") == std::string::npos ? word
                                                                  : fmt::format("'{}'", word);
}

}  // namespace

std::vector<std::string> preset_names(const DataFiles& files, const std::string& folder) {
  constexpr std::string_view kSuffix = ".json";
  std::vector<std::string> names;
  for (const std::string& file : files.list(folder)) {
    if (file.ends_with(kSuffix)) {
      const std::size_t begin = folder.size() + 1;
      names.push_back(file.substr(begin, file.size() - begin - kSuffix.size()));
    }
  }
  return names;
}

std::string cluster_name(const ClusterChoice& choice) {
  return choice.named.empty() ? fmt::format("{}x{}x{}", choice.nodes, choice.devices, choice.device)
                              : choice.named;
}

Result<Cluster> cluster_of(const DataFiles& files, const ClusterChoice& choice) {
  auto cluster = find_cluster(files, cluster_name(choice));
  if (!cluster) {
    return tl::unexpected<Error>(in_field(std::move(cluster).error(), "cluster"));
  }
  LinkSpec in_node = cluster->intra_link(NodeId(0));
  LinkSpec network = cluster->inter_link(NodeId(0));
  in_node.bandwidth = choice.node_bandwidth.value_or(in_node.bandwidth);
  network.bandwidth = choice.network_bandwidth.value_or(network.bandwidth);
  network.latency = choice.network_latency.value_or(network.latency);
  if (choice.node_bandwidth) {
    cluster->intra_node = in_node;
  }
  if (choice.network_bandwidth || choice.network_latency) {
    cluster->inter_node = network;
  }
  return cluster;
}

Result<PlanJob> job_of(const DataFiles& files, const PlanSetup& setup) {
  auto model = find_model(files, setup.model);
  if (!model) {
    return tl::unexpected<Error>(in_field(std::move(model).error(), "model"));
  }
  auto cluster = cluster_of(files, setup.cluster);
  if (!cluster) {
    return pass_on(std::move(cluster));
  }
  auto constraints = constraints_of(setup);
  if (!constraints) {
    return pass_on(std::move(constraints));
  }
  auto objective = objective_of(setup);
  if (!objective) {
    return tl::unexpected<Error>(in_field(std::move(objective).error(), "objective"));
  }
  return PlanJob{.model = *std::move(model),
                 .cluster = *std::move(cluster),
                 .global_batch = setup.global_batch,
                 .sequence = setup.sequence,
                 .constraints = *std::move(constraints),
                 .objective = *objective,
                 .plans = setup.plans};
}

std::string command_line(const PlanSetup& setup) {
  std::string text = fmt::format("stagewright plan --model {} --cluster {} --global-batch {}",
                                 quoted(setup.model),
                                 quoted(cluster_name(setup.cluster)),
                                 setup.global_batch);
  if (setup.sequence > 0) {
    text += fmt::format(" --seq {}", setup.sequence);
  }
  for (const auto& [name, values] : setup.constraints) {
    if (!values.empty()) {
      text += fmt::format(" --{} {}", name, quoted(values));
    }
  }
  if (setup.aim != PlanSetup{}.aim) {
    text += fmt::format(" --objective {}", setup.aim);
  }
  if (setup.device_hour > 0) {
    text += fmt::format(" --device-hour {}", setup.device_hour);
  }
  if (setup.device_watts > 0) {
    text += fmt::format(" --device-watts {}", setup.device_watts);
  }
  return text;
}

}  // namespace stagewright::gui
