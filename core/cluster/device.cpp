#include "core/cluster/device.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/suggest.h"
#include "core/cluster/device_json.h"
#include "core/cluster/link_json.h"

namespace stagewright {
namespace {

// What a device file must give a source for.
constexpr std::array<std::string_view, 8> kSourced = {"memory",
                                                      "memory_bandwidth",
                                                      "peak",
                                                      "efficiency",
                                                      "kernel_overhead",
                                                      "context",
                                                      "intra_node",
                                                      "inter_node"};
constexpr std::array<OpClass, 4> kComputeClasses = {
    OpClass::kMatrix, OpClass::kAttention, OpClass::kMemory, OpClass::kOptimizer};
constexpr std::array<DType, 5> kPeakTypes = {
    DType::kFloat32, DType::kTf32, DType::kBFloat16, DType::kFloat16, DType::kFloat8};

void read_peak(JsonReader& reader, DeviceType& device) {
  for (const DType type : kPeakTypes) {
    const std::string_view name = name_of(type);
    if (!reader.has(name)) {
      continue;
    }
    const FlopsPerSecond rate = reader.rate(name);
    if (!reader.failed() && rate <= FlopsPerSecond(0)) {
      reader.reject(name, "must be more than 0; for example \"312 TFLOP/s\"");
    }
    device.peak[type] = rate;
  }
}

void read_efficiency(JsonReader& reader, DeviceType& device) {
  for (const OpClass op_class : kComputeClasses) {
    device.efficiency[op_class] = read_share(reader, name_of(op_class));
  }
}

void read_sources(JsonReader& reader, DeviceType& device) {
  for (const std::string_view key : kSourced) {
    device.sources[std::string(key)] = reader.text(key);
  }
}

void require(JsonReader& reader, std::string_view key, bool present) {
  if (!present) {
    reader.reject(key, "is required but absent; add it");
  }
}

void require_positive(JsonReader& reader, std::string_view key, bool positive) {
  if (!reader.failed() && !positive) {
    reader.reject(key, "must be more than 0");
  }
}

}  // namespace

bool DeviceType::can(std::string_view capability) const {
  return std::ranges::find(capabilities, capability) != capabilities.end();
}

DeviceType read_device(JsonReader& reader) {
  DeviceType device;
  device.name = reader.text("name");
  device.aliases = reader.texts("aliases");
  device.description = reader.text_or("description", "");
  device.architecture = reader.text_or("architecture", "");
  device.memory = reader.bytes("memory");
  require_positive(reader, "memory", device.memory > Bytes(0));
  device.memory_bandwidth = reader.bandwidth("memory_bandwidth");
  require_positive(reader, "memory_bandwidth", device.memory_bandwidth > BytesPerSecond(0));
  device.multiprocessors = reader.count_or("multiprocessors", 108);
  require(
      reader, "peak", reader.object("peak", [&](JsonReader& peak) { read_peak(peak, device); }));
  if (!reader.failed() && device.peak.empty()) {
    reader.reject("peak", R"(names no element type; for example {"fp32": "19.5 TFLOP/s"})");
  }
  require(reader, "efficiency", reader.object("efficiency", [&](JsonReader& shares) {
    read_efficiency(shares, device);
  }));
  device.kernel_overhead = reader.duration("kernel_overhead");
  constexpr Duration kLongestOverhead = std::chrono::seconds(1);
  if (!reader.failed() &&
      (device.kernel_overhead < Duration(0) || device.kernel_overhead > kLongestOverhead)) {
    reader.reject("kernel_overhead",
                  fmt::format("must lie between 0 and {}; for example \"3 us\"",
                              to_string(kLongestOverhead)));
  }
  device.context = reader.bytes("context");
  device.devices_per_node = reader.count_or("devices_per_node", 8);
  require(reader, "intra_node", reader.object("intra_node", [&](JsonReader& link) {
    device.intra_node = read_link(link);
  }));
  require(reader, "inter_node", reader.object("inter_node", [&](JsonReader& link) {
    device.inter_node = read_link(link);
  }));
  device.capabilities = reader.texts("capabilities");
  require(reader, "sources", reader.object("sources", [&](JsonReader& sources) {
    read_sources(sources, device);
  }));
  return device;
}

nlohmann::ordered_json to_json(const DeviceType& device) {
  nlohmann::ordered_json json = {{"name", device.name}};
  if (!device.aliases.empty()) {
    json["aliases"] = device.aliases;
  }
  if (!device.description.empty()) {
    json["description"] = device.description;
  }
  if (!device.architecture.empty()) {
    json["architecture"] = device.architecture;
  }
  json["memory"] = to_exact_string(device.memory);
  json["memory_bandwidth"] = to_exact_string(device.memory_bandwidth);
  if (device.multiprocessors != 108) {
    json["multiprocessors"] = device.multiprocessors;
  }
  for (const auto& [type, rate] : device.peak) {
    json["peak"][name_of(type)] = to_exact_string(rate);
  }
  for (const auto& [op_class, share] : device.efficiency) {
    json["efficiency"][name_of(op_class)] = share;
  }
  json["kernel_overhead"] = to_exact_string(device.kernel_overhead);
  json["context"] = to_exact_string(device.context);
  json["devices_per_node"] = device.devices_per_node;
  json["intra_node"] = to_json(device.intra_node);
  json["inter_node"] = to_json(device.inter_node);
  if (!device.capabilities.empty()) {
    json["capabilities"] = device.capabilities;
  }
  for (const auto& [key, source] : device.sources) {
    json["sources"][key] = source;
  }
  return json;
}

Result<DeviceType> parse_device(std::string_view text, std::string_view where) {
  auto json = parse_json(text, where);
  if (!json) {
    return pass_on(std::move(json));
  }
  JsonReader reader(*json, std::string(where));
  DeviceType device = read_device(reader);
  if (auto done = reader.finish(); !done) {
    return pass_on(std::move(done));
  }
  return device;
}

std::string to_json_text(const DeviceType& device) {
  return to_json(device).dump(2) + "\n";
}

}  // namespace stagewright
