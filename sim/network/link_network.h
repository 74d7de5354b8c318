#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/units.h"

namespace stagewright {

using LinkIndex = std::int32_t;   ///< into LinkNetwork::links
using RouteIndex = std::int32_t;  ///< into LinkNetwork::routes

/// What flows share: one direction of a device's port, of a NIC, or of the trunk above a switch.
struct SharedLink {
  std::string name;  ///< "node 3, nic 0, out"
  BytesPerSecond capacity;
  friend bool operator==(const SharedLink&, const SharedLink&) = default;
};

/// That a flow goes over a link.
struct LinkUse {
  LinkIndex link = 0;
  double weight = 1;  ///< bytes over this link per byte of the flow's rate
  friend bool operator==(const LinkUse&, const LinkUse&) = default;
};

/// How flows of one kind go: a message between two devices, or the traffic of a collective.
struct Route {
  std::int32_t first_use = 0;  ///< into LinkNetwork::uses
  std::int32_t uses = 0;       ///< none: the flow shares nothing with anybody
  std::int32_t first_end = 0;  ///< into LinkNetwork::ends
  std::int32_t ends = 0;       ///< devices that send or receive
  BytesPerSecond rate;         ///< alone
  Duration latency{};          ///< of the last byte, after which it does not occupy the links
  friend bool operator==(const Route&, const Route&) = default;
};

/// Links and the ways over them.
struct LinkNetwork {
  std::vector<SharedLink> links;
  std::vector<Route> routes;
  std::vector<LinkUse> uses;
  std::vector<std::int32_t> ends;

  [[nodiscard]] std::span<const LinkUse> uses_of(RouteIndex route) const {
    const Route& r = routes[static_cast<std::size_t>(route)];
    return std::span(uses).subspan(static_cast<std::size_t>(r.first_use),
                                   static_cast<std::size_t>(r.uses));
  }
  [[nodiscard]] std::span<const std::int32_t> ends_of(RouteIndex route) const {
    const Route& r = routes[static_cast<std::size_t>(route)];
    return std::span(ends).subspan(static_cast<std::size_t>(r.first_end),
                                   static_cast<std::size_t>(r.ends));
  }

  LinkIndex add_link(std::string name, BytesPerSecond capacity) {
    links.push_back({std::move(name), capacity});
    return static_cast<LinkIndex>(links.size() - 1);
  }
  RouteIndex add_route(BytesPerSecond rate,
                       Duration latency,
                       std::span<const LinkUse> over,
                       std::span<const std::int32_t> between) {
    routes.push_back({.first_use = static_cast<std::int32_t>(uses.size()),
                      .uses = static_cast<std::int32_t>(over.size()),
                      .first_end = static_cast<std::int32_t>(ends.size()),
                      .ends = static_cast<std::int32_t>(between.size()),
                      .rate = rate,
                      .latency = latency});
    uses.insert(uses.end(), over.begin(), over.end());
    ends.insert(ends.end(), between.begin(), between.end());
    return static_cast<RouteIndex>(routes.size() - 1);
  }
};

}  // namespace stagewright
