#include "core/cluster/link_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace stagewright {

double read_share(JsonReader& reader, std::string_view key) {
  const double share = reader.number(key);
  if (!reader.failed() && !(share > 0 && share <= 1)) {
    reader.reject(key,
                  fmt::format("is {}; a reachable share lies above 0 and is at most 1", share));
  }
  return share;
}

LinkSpec read_link(JsonReader& reader) {
  LinkSpec link;
  link.name = reader.text("name");
  link.bandwidth = reader.bandwidth("bandwidth");
  if (!reader.failed() && link.bandwidth <= BytesPerSecond(0)) {
    reader.reject("bandwidth", "must be more than 0; for example \"50 GB/s\"");
  }
  link.latency = reader.duration("latency");
  // A ring adds it up over all members, of which there may be millions.
  constexpr Duration kLongestLatency = std::chrono::milliseconds(400);
  if (!reader.failed() && (link.latency < Duration(0) || link.latency > kLongestLatency)) {
    reader.reject(
        "latency",
        fmt::format("must lie between 0 and {}; for example \"2 us\"", to_string(kLongestLatency)));
  }
  if (reader.has("efficiency")) {
    link.efficiency = read_share(reader, "efficiency");
  }
  link.devices_per_port = reader.count_or("devices_per_port", 1);
  if (reader.has("ramp")) {
    link.ramp = reader.bytes("ramp");
  }
  return link;
}

nlohmann::ordered_json to_json(const LinkSpec& link) {
  nlohmann::ordered_json json = {{"name", link.name},
                                 {"bandwidth", to_exact_string(link.bandwidth)},
                                 {"latency", to_exact_string(link.latency)},
                                 {"efficiency", link.efficiency}};
  if (link.devices_per_port != 1) {
    json["devices_per_port"] = link.devices_per_port;
  }
  if (link.ramp != Bytes{}) {
    json["ramp"] = to_exact_string(link.ramp);
  }
  return json;
}

}  // namespace stagewright
