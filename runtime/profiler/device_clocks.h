#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/result.h"

namespace stagewright {

/// The clocks of a GPU while something is measured on it, and what slows them down, by NVML.
class DeviceClocks {
 public:
  /// `pci_address` as CudaDeviceFacts has it; `library` names NVML's file (empty: the driver's).
  /// kUnsupported, saying what is missing, without NVML or where it does not know the device.
  [[nodiscard]] static Result<std::shared_ptr<DeviceClocks>> open(const std::string& pci_address,
                                                                  const std::string& library = {});
  DeviceClocks() = default;
  DeviceClocks(const DeviceClocks&) = delete;
  DeviceClocks& operator=(const DeviceClocks&) = delete;
  virtual ~DeviceClocks() = default;

  /// Notes what the device does now.  Any thread.
  virtual void look() = 0;
  /// Of all looks: "clocks" ("SM 1755 to 1980 MHz of 1980"), "throttling" ("none", or the causes
  /// with the number of looks that met each), "driver" (its version).
  [[nodiscard]] virtual std::map<std::string, std::string> summary() const = 0;
};

}  // namespace stagewright
