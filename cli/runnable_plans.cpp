#include "cli/runnable_plans.h"

#include <utility>

#include <fmt/format.h>

#include "planner/lower/lower.h"
#include "runtime/compute/cpu_device.h"
#include "runtime/trainer/runnable.h"

namespace stagewright {

Result<void> check_devices_run(const Cluster& cluster, const Plan& plan) {
  for (const DeviceType& type : cluster.types) {
    if (type.name != "cpu") {
      return fail(
          ErrorCode::kUnsupported,
          fmt::format("ranks run on the CPU, the plan is for {}; pass --cluster 1x{}xcpu to run it "
                      "with ranks as threads of this machine, or --device cuda where one is",
                      type.name,
                      plan.devices()));
    }
  }
  return {};
}

Result<void> check_plan_runs(const ModelGraph& model, const Cluster& cluster, const Plan& plan) {
  if (auto devices = check_devices_run(cluster, plan); !devices) {
    return devices;
  }
  auto schedule = lower(model, cluster, plan);
  if (!schedule) {
    return pass_on(std::move(schedule));
  }
  return check_runnable(*schedule, *make_cpu_device());
}

}  // namespace stagewright
