#include <fmt/format.h>

#include "core/base/version.h"
#include "runtime/libraries/cuda_devices.h"
#include "runtime/profiler/device_clocks.h"
#include "steps.h"

namespace stagewright::gpu_check {

Result<StepResult> describe_machine() {
  const auto machine = find_cuda_machine();
  if (!machine) {
    return tl::unexpected<Error>(machine.error());
  }
  StepResult result{.step = "machine", .status = "passed"};
  nlohmann::json devices = nlohmann::json::array();
  for (const CudaDeviceFacts& device : machine->devices) {
    devices.push_back({{"name", device.name},
                       {"pci_address", device.pci_address},
                       {"generation", device.generation},
                       {"multiprocessors", device.multiprocessors},
                       {"memory_bytes", device.memory.count()}});
  }
  const CudaDeviceFacts& first = machine->devices.front();
  nlohmann::json& figures = result.figures;
  figures = {{"devices", std::move(devices)},
             {"cuda_runtime", machine->runtime},
             {"cuda_driver", machine->driver},
             {"cuda_library", machine->library},
             {"program", "stagewright " + std::string(version())}};
  if (const auto clocks = DeviceClocks::open(first.pci_address)) {
    (*clocks)->look();
    for (const auto& [what, seen] : (*clocks)->summary()) {
      figures[what] = seen;
    }
  } else {
    figures["clocks"] = "not known: " + clocks.error().to_string();
  }
  result.summary = fmt::format("{} x {} (sm_{}, {}), CUDA runtime {}, driver for {}",
                               machine->devices.size(),
                               first.name,
                               first.generation,
                               to_string(first.memory),
                               machine->runtime,
                               machine->driver);
  return result;
}

}  // namespace stagewright::gpu_check
