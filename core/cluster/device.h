#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "core/model/op.h"

namespace stagewright {

/// A link level: how devices within some distance reach each other.
struct LinkSpec {
  std::string name;                   ///< "nvlink4", "infiniband-ndr", "shared-memory"
  BytesPerSecond bandwidth;           ///< per device and direction, what the data sheet says
  Duration latency{};                 ///< of one small message
  double efficiency = 1.0;            ///< reachable share of `bandwidth` for large messages
  std::int32_t devices_per_port = 1;  ///< devices that share one port (NIC) of this bandwidth
  /// Bytes of a message that a collective of eight moves at half rate before its pipeline is full.
  Bytes ramp{};
  friend bool operator==(const LinkSpec&, const LinkSpec&) = default;
};

/// A type of device as its file in profiles/hardware describes it.
struct DeviceType {
  std::string name;                  ///< canonical: "h100-80gb-sxm"
  std::vector<std::string> aliases;  ///< "h100-sxm", "h100"
  std::string description;
  std::string architecture;  ///< whose calibrated shares apply: "hopper"; may be empty
  Bytes memory{};            ///< usable by programs as the driver reports it
  BytesPerSecond memory_bandwidth;
  std::int32_t multiprocessors = 108;    ///< thread blocks of a product that run at once
  std::map<DType, FlopsPerSecond> peak;  ///< dense matrix rate
  std::map<OpClass, double> efficiency;  ///< reachable share of the bound, large operations
  Duration kernel_overhead{};            ///< device time added per operation
  Bytes context{};                       ///< taken by the driver, libraries and communicators
  std::int32_t devices_per_node = 8;     ///< of the usual node
  LinkSpec intra_node;
  LinkSpec inter_node;
  /// What lowering may use: "flash-attention" (no workspace), "blockwise-attention".
  std::vector<std::string> capabilities;
  std::map<std::string, std::string> sources;  ///< where each number comes from, by key
  friend bool operator==(const DeviceType&, const DeviceType&) = default;

  [[nodiscard]] bool can(std::string_view capability) const;
};

[[nodiscard]] Result<DeviceType> parse_device(std::string_view text, std::string_view where);
[[nodiscard]] std::string to_json_text(const DeviceType& device);

}  // namespace stagewright
