#include "core/cluster/cluster.h"

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/cluster/device_types.h"
#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"

namespace stagewright {
namespace {

const DataFiles& data() {
  static const DataFiles kFiles = DataFiles::embedded();
  return kFiles;
}

std::string error_of(std::string_view name) {
  const auto cluster = find_cluster(data(), name);
  return cluster ? "" : cluster.error().to_string();
}

std::string parse_error(std::string_view text) {
  const auto cluster = parse_cluster(data(), text, "c.json");
  return cluster ? "" : cluster.error().to_string();
}

TEST(Cluster, TheShortFormGivesNodesDevicesAndType) {
  const auto cluster = find_cluster(data(), "16x8xh100-sxm");
  ASSERT_TRUE(cluster.has_value()) << cluster.error().to_string();
  EXPECT_EQ(cluster->name, "16x8xh100-sxm");
  EXPECT_EQ(cluster->nodes, std::vector(16, Node{"", std::vector<std::int32_t>(8, 0)}));
  EXPECT_EQ(cluster->types, std::vector{*find_device(data(), "h100")});
  EXPECT_EQ(cluster->device_count(), 128);
  EXPECT_EQ(cluster->node_of(DeviceId(15)), NodeId(1));
  EXPECT_EQ(cluster->node_of(DeviceId(16)), NodeId(2));
  EXPECT_EQ(cluster->node_table()[127], NodeId(15));
  EXPECT_EQ(cluster->type_of(DeviceId(127)).name, "h100-80gb-sxm");
  EXPECT_EQ(device_types(*cluster), std::vector<std::int32_t>(128, 0));
  EXPECT_EQ(cluster->intra_link(NodeId(3)).name, "nvlink4");
  EXPECT_EQ(cluster->inter_link(NodeId(3)).name, "infiniband-ndr");
}

TEST(Cluster, OneNodeNeedsNoNodeCount) {
  const auto cluster = find_cluster(data(), "8xh100");
  ASSERT_TRUE(cluster.has_value());
  EXPECT_EQ(cluster->nodes.size(), 1U);
  EXPECT_EQ(find_cluster(data(), "1x2xcpu")->device_count(), 2);
}

TEST(Cluster, AFormThatDoesNotParseShowsARightOne) {
  EXPECT_EQ(error_of("16x8"),
            "cluster '16x8' names no device type; write NODESxDEVICESxTYPE, for example "
            "16x8xh100-sxm");
  EXPECT_EQ(error_of("0x8xh100"),
            "cluster '0x8xh100' has 0 nodes of 8 devices; both must be 1 or more, for example "
            "16x8xh100-sxm");
  EXPECT_EQ(error_of("16x-8xh100"),
            "cluster '16x-8xh100' has 16 nodes of -8 devices; both must be 1 or more, for example "
            "16x8xh100-sxm");
  EXPECT_EQ(error_of("16x8xh100-smx"),
            "in cluster '16x8xh100-smx': 'h100-smx' is not a known device type; did you mean "
            "'h100-sxm'?");
  EXPECT_EQ(error_of("h100"),
            "'h100' is a device type; say how many: 8xh100 is one node, 16x8xh100 sixteen");
  EXPECT_EQ(error_of("999999999x8xh100"),
            "cluster '999999999x8xh100' has more than the 10000000 devices that are supported");
  const std::string unknown = error_of("sixteen nodes");
  EXPECT_NE(unknown.find("16x8xh100-sxm"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("dgx-h100-superpod"), std::string::npos) << unknown;
  EXPECT_NE(error_of("").find("is not a cluster"), std::string::npos);
  EXPECT_NE(error_of("8x").find("names no device type"), std::string::npos);
}

TEST(Cluster, EveryClusterFileReadsAndWritesBackTheSame) {
  const auto files = data().list("clusters");
  EXPECT_GE(files.size(), 2U);
  for (const std::string& file : files) {
    const auto cluster = parse_cluster(data(), *data().find(file), file);
    ASSERT_TRUE(cluster.has_value()) << cluster.error().to_string();
    EXPECT_EQ("clusters/" + cluster->name + ".json", file);
    EXPECT_EQ(*find_cluster(data(), cluster->name), *cluster);
    EXPECT_EQ(*parse_cluster(data(), to_json_text(*cluster), file), *cluster);
  }
}

TEST(Cluster, NodesMayDifferAndLinksMayBeOverridden) {
  const auto cluster = parse_cluster(data(),
                                     R"({
      "name": "mixed",
      "nodes": [
        {"name": "host1", "devices": "4xh100"},
        {"count": 2, "devices": ["2xa100", "1xh100-sxm"]}
      ],
      "tiers": [{"name": "leaf", "nodes": 3, "over_subscription": 2, "latency": "300 ns"}],
      "inter_node": {"name": "roce", "bandwidth": "200 Gb/s", "latency": "5 us", "devices_per_port": 2}
    })",
                                     "mixed.json");
  ASSERT_TRUE(cluster.has_value()) << cluster.error().to_string();
  EXPECT_EQ(cluster->nodes,
            (std::vector<Node>{{"host1", {0, 0, 0, 0}}, {"", {1, 1, 0}}, {"", {1, 1, 0}}}));
  EXPECT_EQ(cluster->type_of(DeviceId(5)).name, "a100-80gb-sxm");
  EXPECT_EQ(cluster->node_of(DeviceId(9)), NodeId(2));
  EXPECT_EQ(cluster->inter_link(NodeId(1)),
            (LinkSpec{"roce", 25_GBps, Duration(5'000'000), 1.0, 2}));
  EXPECT_EQ(cluster->intra_link(NodeId(1)).name, "nvlink3");
  EXPECT_EQ(*parse_cluster(data(), to_json_text(*cluster), "again.json"), *cluster);
}

TEST(Cluster, TheExampleInTheDocsIsRead) {
  const std::string page = *read_file(source_folder() / "docs" / "adding_hardware.md");
  const std::size_t begin = page.find("```json\n") + 8;
  const auto cluster =
      parse_cluster(data(), page.substr(begin, page.find("```", begin) - begin), "d");
  ASSERT_TRUE(cluster.has_value()) << cluster.error().to_string();
  EXPECT_EQ(cluster->device_count(), 4 * 8 + 4);
}

TEST(Cluster, AFileIsReadByItsPath) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "my.json").string();
  ASSERT_TRUE(write_file(path, R"({"name": "mine", "nodes": [{"devices": "2xcpu"}]})").has_value());
  EXPECT_EQ(find_cluster(data(), path)->device_count(), 2);
  const std::string missing = (folder.path() / "none.json").string();
  EXPECT_EQ(find_cluster(data(), missing).error().code, ErrorCode::kNotFound);
}

TEST(Cluster, WhatIsWrongInAFileIsNamedWithItsPlace) {
  EXPECT_EQ(parse_error(R"({"name": "n"})"),
            "c.json:/nodes: is required; for example [{\"count\": 16, \"devices\": "
            "\"8xh100-sxm\"}]");
  EXPECT_EQ(parse_error(R"({"name": "n", "nodes": [{"devices": "8h100"}]})"),
            "c.json:/nodes/0/devices: '8h100' is not COUNTxTYPE; for example \"8xh100-sxm\"");
  EXPECT_EQ(parse_error(R"({"name": "n", "nodes": [{"devices": "0xh100"}]})"),
            "c.json:/nodes/0/devices: '0xh100' is not COUNTxTYPE; for example \"8xh100-sxm\"");
  EXPECT_EQ(parse_error(R"({"name": "n", "nodes": [{"count": 0, "devices": "8xh100"}]})"),
            "c.json:/nodes/0/count: is 0; it must be 1 or more");
  EXPECT_EQ(parse_error(R"({"name": "n", "nodes": [{"devices": "8xh1000"}]})"),
            "c.json:/nodes/0/devices: 'h1000' is not a known device type; did you mean 'h100'?");
  EXPECT_EQ(parse_error(R"({"name": "n", "node": []})"),
            "c.json:/nodes: is required; for example [{\"count\": 16, \"devices\": "
            "\"8xh100-sxm\"}]");
  EXPECT_EQ(parse_error(R"({"version": 2, "name": "n"})"),
            "c.json:/version: is 2; this program reads version 1");
  EXPECT_NE(parse_error(R"({"name": "n", "nodes": [)").find("not valid JSON at line 1"),
            std::string::npos);
}

}  // namespace
}  // namespace stagewright
