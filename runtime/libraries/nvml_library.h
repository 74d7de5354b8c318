#pragma once

#include <memory>
#include <string>

#include "core/base/result.h"

namespace stagewright {

/// NVML, the driver's monitor, as it was found when the program ran.  The toolkit has no header of
/// it: these are its entries as the driver documents them (nvml_library.cpp has their names); all
/// return 0 for success.
struct NvmlLibrary {
  using Device = struct nvmlDevice_st*;
  enum Clock : unsigned {
    kMultiprocessorClock = 1,
    kMemoryClock = 2
  };

  std::string file;
  int (*init)() = nullptr;
  int (*driver_version)(char* version, unsigned length) = nullptr;
  int (*device_at)(const char* address, Device* device) = nullptr;
  int (*clock)(Device device, unsigned clock, unsigned* mhz) = nullptr;
  int (*highest_clock)(Device device, unsigned clock, unsigned* mhz) = nullptr;
  int (*throttle_reasons)(Device device, unsigned long long* reasons) = nullptr;
  const char* (*error_text)(int status) = nullptr;
};

/// Initialised.  kUnsupported, saying what is missing, where it cannot be loaded.
[[nodiscard]] Result<std::shared_ptr<const NvmlLibrary>> load_nvml(const std::string& path = {});

}  // namespace stagewright
