#pragma once

#include <string>

#include "core/cluster/device.h"

namespace stagewright::test {

/// A device of round figures: 100 TFLOP/s, 1 TB/s of memory, 100 GB/s inside a node, one port of
/// 10 GB/s per device to the outside.
inline DeviceType round_device() {
  DeviceType device;
  device.name = "round";
  device.memory = 16_GiB;
  device.memory_bandwidth = 1000_GBps;
  device.peak = {{DType::kFloat32, 10_TFLOPS}, {DType::kBFloat16, 100_TFLOPS}};
  device.context = 1_GiB;
  device.intra_node = {.name = "inside", .bandwidth = 100_GBps};
  device.inter_node = {.name = "outside", .bandwidth = 10_GBps};
  return device;
}

}  // namespace stagewright::test
