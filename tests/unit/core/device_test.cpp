#include "core/cluster/device.h"

#include <map>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/data_files.h"
#include "core/cluster/cluster.h"

namespace stagewright {
namespace {

const DataFiles& data() {
  static const DataFiles kFiles = DataFiles::embedded();
  return kFiles;
}

nlohmann::json device_json(std::string_view name) {
  return nlohmann::json::parse(to_json_text(*find_device(data(), name)));
}

std::string error_of(const nlohmann::json& json) {
  const auto device = parse_device(json.dump(), "x.json");
  return device ? "" : device.error().to_string();
}

TEST(Device, EveryHardwareFileReadsIsNamedLikeItsFileAndWritesBackTheSame) {
  std::set<std::string> names;
  for (const std::string& file : data().list("hardware")) {
    const auto device = parse_device(*data().find(file), file);
    ASSERT_TRUE(device.has_value()) << device.error().to_string();
    EXPECT_EQ("hardware/" + device->name + ".json", file);
    EXPECT_TRUE(names.insert(device->name).second) << device->name;
    for (const std::string& alias : device->aliases) {
      EXPECT_TRUE(names.insert(alias).second) << alias << " is used twice";
    }
    const auto again = parse_device(to_json_text(*device), file);
    ASSERT_TRUE(again.has_value()) << again.error().to_string();
    EXPECT_EQ(*again, *device);
  }
  EXPECT_GE(names.size(), 6U);
}

TEST(Device, IsFoundByNameAliasAndInAnyLetterCase) {
  for (const auto& [name, canonical] :
       std::map<std::string, std::string>{{"h100-80gb-sxm", "h100-80gb-sxm"},
                                          {"h100-sxm", "h100-80gb-sxm"},
                                          {"H100", "h100-80gb-sxm"},
                                          {"a100-80gb-sxm", "a100-80gb-sxm"},
                                          {"a100", "a100-80gb-sxm"},
                                          {"a100-40gb-sxm", "a100-40gb-sxm"},
                                          {"h200", "h200-141gb-sxm"},
                                          {"b200", "b200-180gb-sxm"},
                                          {"cpu", "cpu"}}) {
    const auto device = find_device(data(), name);
    ASSERT_TRUE(device.has_value()) << device.error().to_string();
    EXPECT_EQ(device->name, canonical);
  }
  EXPECT_EQ(find_device(data(), "h100-sxmm").error().to_string(),
            "'h100-sxmm' is not a known device type; did you mean 'h100-sxm'?");
}

TEST(Device, FiguresCarryTheirUnits) {
  const auto h100 = find_device(data(), "h100");
  EXPECT_EQ(h100->peak.at(DType::kBFloat16), 989_TFLOPS);
  EXPECT_EQ(h100->memory_bandwidth, 3350_GBps);
  EXPECT_EQ(h100->intra_node.bandwidth, 450_GBps);
  EXPECT_EQ(h100->inter_node.bandwidth, 50_GBps);
  EXPECT_TRUE(h100->can("flash-attention"));
  EXPECT_FALSE(h100->can("teleport"));
}

TEST(Device, WhatIsWrongIsNamedWithItsPlace) {
  nlohmann::json json = device_json("h100");
  json["memory"] = 80;
  EXPECT_EQ(error_of(json), "x.json:/memory: expected a string, found 80");
  json = device_json("h100");
  json["intra_node"]["bandwidth"] = "450 GBps";
  EXPECT_EQ(
      error_of(json),
      "x.json:/intra_node/bandwidth: '450 GBps' is not a number with a unit; write for example "
      "'2 kB/s' (units: B/s, kB/s, MB/s, GB/s, TB/s, b/s, kb/s, Mb/s, Gb/s, Tb/s)");
  json = device_json("h100");
  json["peek"] = 1;
  EXPECT_EQ(error_of(json), "x.json:/peek: unknown key 'peek'; did you mean 'peak'?");
  json = device_json("h100");
  json["efficiency"]["matrix"] = 74;
  EXPECT_EQ(error_of(json),
            "x.json:/efficiency/matrix: is 74; a reachable share lies above 0 and is at most 1");
  json = device_json("h100");
  json["sources"].erase("peak");
  EXPECT_EQ(error_of(json), "x.json:/sources/peak: is required but absent; add it");
  json = device_json("h100");
  json["memory"] = "0 GiB";
  EXPECT_EQ(error_of(json), "x.json:/memory: must be more than 0");
  json = device_json("h100");
  json["peak"] = nlohmann::json::object();
  EXPECT_EQ(error_of(json),
            "x.json:/peak: names no element type; for example {\"fp32\": \"19.5 TFLOP/s\"}");
  json = device_json("h100");
  json.erase("inter_node");
  EXPECT_EQ(error_of(json), "x.json:/inter_node: is required but absent; add it");
}

}  // namespace
}  // namespace stagewright
