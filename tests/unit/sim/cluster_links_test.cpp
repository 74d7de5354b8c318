#include "sim/network/cluster_links.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test_devices.h"

namespace stagewright {
namespace {

using namespace std::chrono_literals;

/// Nodes of `devices` round devices: 100 GB/s inside, 10 GB/s a NIC.
Cluster cluster_of(std::int32_t nodes, std::int32_t devices, std::int32_t devices_per_port = 1) {
  Cluster cluster;
  cluster.types = {test::round_device()};
  cluster.types[0].inter_node.devices_per_port = devices_per_port;
  for (std::int32_t n = 0; n < nodes; ++n) {
    cluster.nodes.push_back({"", std::vector<std::int32_t>(static_cast<std::size_t>(devices), 0)});
  }
  return cluster;
}

/// Bytes per second that the route puts on each link alone.
using Loads = std::map<std::string, double>;
Loads loads_of(const LinkNetwork& network, RouteIndex route) {
  Loads loads;
  for (const LinkUse& use : network.uses_of(route)) {
    loads[network.links[static_cast<std::size_t>(use.link)].name] =
        use.weight * network.routes[static_cast<std::size_t>(route)].rate.count();
  }
  return loads;
}

std::vector<DeviceId> devices(const std::vector<std::int32_t>& ids) {
  std::vector<DeviceId> result;
  for (const std::int32_t id : ids) {
    result.emplace_back(id);
  }
  return result;
}

TEST(ClusterLinks, AMessageInsideANodeUsesThePortsOfItsDevices) {
  const Cluster cluster = cluster_of(2, 4);
  LinkNetwork network;
  ClusterLinks links(cluster, network);
  const RouteIndex route =
      links.message(DeviceId(1), DeviceId(2), Bytes(100'000'000), Duration(1100us), 100us);
  EXPECT_EQ(loads_of(network, route),
            (Loads{{"node 0, inside 1, out", 1e11}, {"node 0, inside 2, in", 1e11}}));
  EXPECT_EQ(network.routes[static_cast<std::size_t>(route)].latency, Duration(100us));
}

// Four devices a NIC: devices 1 and 6 of nodes of 4 have NIC 0 of their nodes.
TEST(ClusterLinks, AMessageBetweenNodesUsesTheirNics) {
  const Cluster cluster = cluster_of(2, 4, 4);
  LinkNetwork network;
  ClusterLinks links(cluster, network);
  const RouteIndex route =
      links.message(DeviceId(1), DeviceId(6), Bytes(10'000'000), Duration(1ms), {});
  EXPECT_EQ(loads_of(network, route),
            (Loads{{"node 0, outside 0, out", 1e10}, {"node 1, outside 0, in", 1e10}}));
}

TEST(ClusterLinks, AMessageWithinADeviceUsesNoLink) {
  const Cluster cluster = cluster_of(1, 2);
  LinkNetwork network;
  ClusterLinks links(cluster, network);
  const RouteIndex route = links.message(DeviceId(1), DeviceId(1), Bytes(10), Duration(1ms), {});
  EXPECT_EQ(loads_of(network, route), Loads{});
}

// Two nodes a leaf switch, two leafs a spine, over-subscribed 2 and 1: a leaf's trunk has
// 2 nodes * 1 NIC * 10 GB/s / 2.
TEST(ClusterLinks, MessagesCrossTheTrunksUpToTheSwitchThatTheyHaveInCommon) {
  Cluster cluster = cluster_of(4, 1);
  cluster.tiers = {{.name = "leaf", .nodes = 2, .over_subscription = 2},
                   {.name = "spine", .nodes = 4}};
  LinkNetwork network;
  ClusterLinks links(cluster, network);
  const RouteIndex near =
      links.message(DeviceId(0), DeviceId(1), Bytes(10'000'000), Duration(1ms), {});
  const RouteIndex far =
      links.message(DeviceId(1), DeviceId(2), Bytes(10'000'000), Duration(1ms), {});
  EXPECT_EQ(loads_of(network, near),
            (Loads{{"node 0, outside 0, out", 1e10}, {"node 1, outside 0, in", 1e10}}));
  EXPECT_EQ(loads_of(network, far),
            (Loads{{"node 1, outside 0, out", 1e10},
                   {"node 2, outside 0, in", 1e10},
                   {"leaf switch 0, out", 1e10},
                   {"leaf switch 1, in", 1e10}}));
  for (const SharedLink& link : network.links) {
    if (link.name == "leaf switch 0, out") {
      EXPECT_EQ(link.capacity, BytesPerSecond(1e10));
    }
  }
}

// All-reduce of 1 GB over two nodes of two: a border passes 2 * 3 / 4 * 1 GB = 1.5 GB in two
// lanes.  Of each device's 1.5 GB half leave the node.  Alone in 75 ms: 10 GB/s a NIC.
TEST(ClusterLinks, ARingHasALanePerMemberOfANode) {
  const Cluster cluster = cluster_of(2, 2);
  LinkNetwork network;
  ClusterLinks links(cluster, network);
  const RouteIndex route = links.collective(
      OpKind::kAllReduce, Bytes(1'000'000'000), devices({0, 1, 2, 3}), Duration(75ms), {});
  Loads expected;
  for (const char* place : {"node 0, inside 0",
                            "node 0, inside 1",
                            "node 1, inside 0",
                            "node 1, inside 1",
                            "node 0, outside 0",
                            "node 0, outside 1",
                            "node 1, outside 0",
                            "node 1, outside 1"}) {
    for (const char* way : {", out", ", in"}) {
      expected[std::string(place) + way] = 1e10;
    }
  }
  const Loads loads = loads_of(network, route);
  ASSERT_EQ(loads.size(), expected.size());
  for (const auto& [name, load] : expected) {
    EXPECT_NEAR(loads.at(name), load, 1) << name;
  }
}

// All-to-all of 400 MB over two nodes of two: each has 100 MB for each other one, 200 MB of it
// outside.  Alone in 20 ms.
TEST(ClusterLinks, AnAllToAllGoesDirectly) {
  const Cluster cluster = cluster_of(2, 2);
  LinkNetwork network;
  ClusterLinks links(cluster, network);
  const Loads loads = loads_of(
      network,
      links.collective(
          OpKind::kAllToAll, Bytes(400'000'000), devices({0, 1, 2, 3}), Duration(20ms), {}));
  EXPECT_NEAR(loads.at("node 0, inside 1, out"), 5e9, 1);
  EXPECT_NEAR(loads.at("node 1, outside 0, in"), 1e10, 1);
}

// A measured time of half of what the port allows: alone the flow still fits.
TEST(ClusterLinks, NothingIsSlowedByItself) {
  const Cluster cluster = cluster_of(1, 2);
  LinkNetwork network;
  ClusterLinks links(cluster, network);
  const RouteIndex route =
      links.message(DeviceId(0), DeviceId(1), Bytes(100'000'000), Duration(500us), {});
  EXPECT_EQ(loads_of(network, route).at("node 0, inside 0, out"), 1e11);
}

}  // namespace
}  // namespace stagewright
