#include "study/explain_inputs.h"

#include <algorithm>
#include <utility>

#include "core/training/run_sizes.h"
#include "planner/plan_job.h"
#include "sim/cost/analytical_compute.h"
#include "study/plan_inputs.h"

namespace stagewright {

Result<ExplainJob> explain_job(const DataFiles& files,
                               ModelGraph model,
                               Cluster cluster,
                               const std::string& framework,
                               std::optional<Profile> profile) {
  const auto repeats = repeats_of(files, framework);
  if (!repeats) {
    return tl::unexpected<Error>(repeats.error());
  }
  auto prices = load_step_prices(files, framework);
  if (!prices) {
    return pass_on(std::move(prices));
  }
  ExplainJob job{
      .model = std::move(model), .cluster = std::move(cluster), .request = {}, .prices = {}};
  job.request.repeats = *repeats;
  job.request.step_prices = *std::move(prices);
  job.prices = [files, framework, profile = std::move(profile), model_of_job = job.model](
                   const Cluster& machines, const Plan& plan) {
    return make_cost(files, model_of_job, machines, plan, framework, profile);
  };
  return job;
}

Result<TrainingSetup> setup_of(const DataFiles& files,
                               const ExplainJob& job,
                               const Plan& plan,
                               const std::string& framework) {
  auto found = find_framework(files, framework);
  if (!found) {
    return pass_on(std::move(found));
  }
  TrainingSetup setup;
  setup.run = run_of(plan, job.model.shape);
  setup.device = job.cluster.types.front();
  setup.intra_node = job.cluster.intra_link(NodeId(0));
  setup.inter_node = job.cluster.inter_link(NodeId(0));
  setup.domain = static_cast<std::int32_t>(job.cluster.nodes.front().devices.size());
  setup.framework = *std::move(found);
  return setup;
}

std::optional<DeviceType> next_device(const DataFiles& files,
                                      const DeviceType& device,
                                      DType type) {
  if (device.architecture.empty()) {
    return std::nullopt;
  }
  const auto rate = [type](const DeviceType& other) { return matrix_peak(other, type).count(); };
  std::optional<DeviceType> faster;
  std::optional<DeviceType> slower;
  for (const std::string& name : files.list("hardware")) {
    auto other = parse_device(*files.find(name), files.where(name));
    if (!other || other->architecture.empty()) {
      continue;
    }
    if (rate(*other) > rate(device) && (!faster || rate(*other) < rate(*faster))) {
      faster = *std::move(other);
    } else if (rate(*other) < rate(device) && (!slower || rate(*other) > rate(*slower))) {
      slower = *std::move(other);
    }
  }
  return faster ? faster : slower;
}

}  // namespace stagewright
