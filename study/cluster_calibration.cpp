#include "study/cluster_calibration.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_reader.h"
#include "core/cluster/cluster.h"
#include "core/cluster/link_json.h"
#include "core/schedule/cost_key.h"
#include "sim/cost/calibrated_cost.h"
#include "study/fit_link.h"
#include "study/statistics.h"
#include "study/step_parameters.h"

namespace stagewright {
namespace {

/// Below this an operation is mostly its launch, which says nothing about rates.
constexpr double kShortest = 30e-6;
/// A share of a peak is none of it above this.
constexpr double kMostShare = 1;

/// Measured over predicted times of one class of operation, alone on the device.
struct Ratios {
  std::vector<double> of;
  [[nodiscard]] bool enough() const { return of.size() >= 3; }
  [[nodiscard]] double middle() const { return median(of); }
};

std::map<OpClass, Ratios> ratios_of(const Profile& profile,
                                    const DeviceType& device,
                                    const CostModel& cost) {
  std::map<OpClass, Ratios> ratios;
  for (const MeasuredOperation& measured : profile.operations) {
    const auto op = operation_of_key(measured.key);
    const double seconds = to_seconds(measured.time.median);
    if (!op || class_of(op->kind) == OpClass::kCollective || seconds < kShortest) {
      continue;
    }
    ratios[class_of(op->kind)].of.push_back(seconds / to_seconds(cost.operation(*op, device).time));
  }
  return ratios;
}

Result<void> use_profile(const DataFiles& files,
                         const Profile& profile,
                         const DeviceType& device,
                         ClusterCalibration& found) {
  const auto framework = find_framework(files, "stagewright");
  if (!framework) {
    return tl::unexpected<Error>(framework.error());
  }
  const auto cost = make_calibrated_cost(isolated_constants(found.constants), *framework);
  const auto ratios = ratios_of(profile, device, *cost);
  ArchitectureShares shares = found.constants.architectures.at(device.architecture);
  const auto apply = [&](OpClass op_class, double& share) {
    const auto own = ratios.find(op_class);
    if (own == ratios.end() || !own->second.enough()) {
      return;
    }
    const double before = share;
    share = std::min(kMostShare, share / own->second.middle());
    found.findings.push_back(fmt::format("{} operations of class {}: share {:.3g}, was {:.3g}",
                                         own->second.of.size(),
                                         name_of(op_class),
                                         share,
                                         before));
  };
  apply(OpClass::kMatrix, shares.matrix);
  apply(OpClass::kAttention, shares.attention);
  apply(OpClass::kMemory,
        found.constants.values[static_cast<std::size_t>(StepConstant::kElementwiseShare)]);
  found.constants.architectures[device.architecture] = shares;
  return {};
}

/// A node's all-reduces as logs.
void add_links(const Profile& profile, std::vector<CollectiveRun>& runs) {
  std::map<std::int32_t, CollectiveRun> by_ranks;
  for (const MeasuredLink& link : profile.links) {
    if (link.operation == name_of(OpKind::kAllReduce) && !link.in_layers && link.ranks > 1) {
      CollectiveRun& run = by_ranks[link.ranks];
      run.nodes = 1;
      run.per_node = link.ranks;
      run.log.points.push_back({link.bytes, link.time.median});
    }
  }
  for (auto& [ranks, run] : by_ranks) {
    runs.push_back(std::move(run));
  }
}

/// Puts the link that explains a log into the device file's text.
Result<void> use_collectives(const CollectiveRun& run,
                             const DeviceType& device,
                             nlohmann::ordered_json& file,
                             ClusterCalibration& found) {
  if (run.nodes < 1 || run.per_node < 1 || std::int64_t{run.nodes} * run.per_node < 2) {
    return fail(ErrorCode::kInvalidInput, "a collective has two members or more", "nccl-tests log");
  }
  const bool between = run.nodes > 1;
  const LinkFit fit =
      fit_link(run.log, between ? device.inter_node : device.intra_node, run.nodes, run.per_node);
  file[between ? "inter_node" : "intra_node"] = to_json(fit.link);
  if (between) {
    found.constants.values[static_cast<std::size_t>(StepConstant::kNicShare)] = fit.link.efficiency;
  }
  found.findings.push_back(fmt::format(
      "{} sizes of {} on {} x {} devices: {} reaches {:.3g} of {}, latency {}; median error {:.1f} "
      "%",
      run.log.points.size(),
      name_of(run.log.kind),
      run.nodes,
      run.per_node,
      fit.link.name,
      fit.link.efficiency,
      to_string(fit.link.bandwidth),
      to_string(fit.link.latency),
      100 * fit.median_error));
  return {};
}

Result<void> use_all_collectives(const DataFiles& files,
                                 const std::vector<CollectiveRun>& runs,
                                 const DeviceType& device,
                                 ClusterCalibration& found) {
  if (runs.empty()) {
    return {};
  }
  const std::string name = "hardware/" + device.name + ".json";
  auto json = parse_json(files.find(name).value_or(""), files.where(name));
  if (!json) {
    return pass_on(std::move(json));
  }
  nlohmann::ordered_json file = *json;
  for (const CollectiveRun& run : runs) {
    if (auto used = use_collectives(run, device, file, found); !used) {
      return used;
    }
    file["sources"][run.nodes > 1 ? "inter_node" : "intra_node"] =
        fmt::format("measured: {} on {} x {} devices, `stagewright calibrate`",
                    name_of(run.log.kind),
                    run.nodes,
                    run.per_node);
  }
  found.device_file = {name, file.dump(2) + "\n"};
  return {};
}

Result<void> use_steps(const DataFiles& files,
                       const std::vector<RecordLine>& steps,
                       ClusterCalibration& found) {
  auto calibration = calibrate(files, steps, {.start = found.constants});
  if (!calibration) {
    return pass_on(std::move(calibration));
  }
  found.constants = std::move(calibration->constants);
  found.moved = std::move(calibration->fitted);
  found.findings.push_back(fmt::format("{} logged steps", calibration->records));
  return {};
}

}  // namespace

Result<ClusterCalibration> calibrate_cluster(const DataFiles& files,
                                             const ClusterMeasurements& measured) {
  auto start = load_step_constants(files);
  if (!start) {
    return pass_on(std::move(start));
  }
  ClusterCalibration found{.constants = *std::move(start)};
  std::vector<CollectiveRun> runs = measured.collectives;
  std::string name = measured.device;
  if (measured.node) {
    name = name.empty() ? measured.node->device : name;
    add_links(*measured.node, runs);
  }
  if (measured.steps.empty() && !measured.node && runs.empty()) {
    return fail(ErrorCode::kInvalidInput,
                "needs logged steps, a node's profile or an nccl-tests log");
  }
  if (measured.node || !runs.empty()) {
    auto device = find_device(files, name);
    if (!device) {
      return pass_on(std::move(device));
    }
    if (measured.node && (device->architecture.empty() ||
                          !found.constants.architectures.contains(device->architecture))) {
      return fail(ErrorCode::kUnsupported,
                  "names no architecture whose rates could be calibrated; pass the profile itself "
                  "to the other commands (--profile)",
                  "device " + device->name);
    }
    if (measured.node) {
      if (auto used = use_profile(files, *measured.node, *device, found); !used) {
        return pass_on(std::move(used));
      }
    }
    if (auto used = use_all_collectives(files, runs, *device, found); !used) {
      return pass_on(std::move(used));
    }
  }
  if (!measured.steps.empty()) {
    if (auto used = use_steps(files, measured.steps, found); !used) {
      return pass_on(std::move(used));
    }
  }
  return found;
}

}  // namespace stagewright
