#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/comm/world.h"
#include "runtime/compute/compute_device.h"

namespace stagewright {

/// Small values that the ranks' hosts exchange with each other, through the memory of their
/// devices, which is what communicators read and write.  All ranks make the same calls in the same
/// order. They throw BackendError.
class HostValues {
 public:
  /// Both outlive it.
  HostValues(Endpoint& endpoint, ComputeDevice& device);

  /// The bytes of all ranks, one after the other.  REQUIRES: equally many of every rank.
  [[nodiscard]] std::vector<std::byte> gather(std::span<const std::byte> own);
  /// The largest of all ranks.
  [[nodiscard]] std::int32_t maximum(std::int32_t own);

 private:
  Endpoint& endpoint_;
  ComputeDevice& device_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<DeviceMemory> one_;
};

}  // namespace stagewright
