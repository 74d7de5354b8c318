#pragma once

#include <memory>
#include <string>

#include "core/base/result.h"

namespace stagewright {

/// NVML, the driver's monitor, as it was found when the program ran.  The toolkit has no header of
/// it: these are its entries as the driver documents them; all return 0 for success.
struct NvmlLibrary {
  using Device = struct nvmlDevice_st*;
  enum Clock : unsigned {
    kMultiprocessorClock = 1,
    kMemoryClock = 2
  };

  std::string file;
  int (*nvmlInit_v2)() = nullptr;
  int (*nvmlSystemGetDriverVersion)(char* version, unsigned length) = nullptr;
  int (*nvmlDeviceGetHandleByPciBusId_v2)(const char* address, Device* device) = nullptr;
  int (*nvmlDeviceGetClockInfo)(Device device, unsigned clock, unsigned* mhz) = nullptr;
  int (*nvmlDeviceGetMaxClockInfo)(Device device, unsigned clock, unsigned* mhz) = nullptr;
  int (*nvmlDeviceGetCurrentClocksThrottleReasons)(Device device,
                                                   unsigned long long* reasons) = nullptr;
  const char* (*nvmlErrorString)(int status) = nullptr;
};

/// Initialised.  kUnsupported, saying what is missing, where it cannot be loaded.
[[nodiscard]] Result<std::shared_ptr<const NvmlLibrary>> load_nvml(const std::string& path = {});

}  // namespace stagewright
