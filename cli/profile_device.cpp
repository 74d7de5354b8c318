#include "cli/profile_device.h"

#include <utility>

#include <fmt/format.h>

#include "core/cluster/cluster.h"
#include "runtime/libraries/cuda_devices.h"
#include "runtime/profiler/device_clocks.h"
#include "runtime/trainer/shared_device.h"

namespace stagewright {

namespace {

[[nodiscard]] Result<std::string> type_of(const DataFiles& files,
                                          const std::string& wanted,
                                          const CudaDeviceFacts& device) {
  auto type = find_device(files, wanted.empty() ? device.name : wanted);
  if (type) {
    return type->name;
  }
  if (wanted.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("the device calls itself '{}', which is no known type; name the type "
                            "that the profile is for with --device-type",
                            device.name),
                "--device");
  }
  return fail(type.error().code, type.error().message, "--device-type");
}

}  // namespace

Result<ProfiledDevice> profile_on_cuda(const DataFiles& files,
                                       const std::string& type,
                                       ProfileOptions& options) {
  const auto machine = find_cuda_machine();
  if (!machine) {
    return tl::unexpected<Error>(machine.error());
  }
  const CudaDeviceFacts& device = machine->devices.front();
  auto name = type_of(files, type, device);
  if (!name) {
    return pass_on(std::move(name));
  }
  RunOptions shared;
  shared.timeout = options.timeout;
  if (auto can = share_cuda_device(shared); !can) {
    return pass_on(std::move(can));
  }
  options.make_world = std::move(shared.make_world);
  options.make_device = std::move(shared.make_device);
  ProfiledDevice profiled;
  profiled.type = *std::move(name);
  profiled.made_by["gpu"] = fmt::format("{}, sm_{}, {} multiprocessors, {}",
                                        device.name,
                                        device.generation,
                                        device.multiprocessors,
                                        to_string(device.memory));
  profiled.made_by["cuda"] =
      fmt::format("runtime {}, driver {}", machine->runtime, machine->driver);
  if (auto clocks = DeviceClocks::open(device.pci_address)) {
    options.clocks = *std::move(clocks);
  } else {
    profiled.made_by["clocks"] = "not known: " + clocks.error().to_string();
  }
  return profiled;
}

}  // namespace stagewright
