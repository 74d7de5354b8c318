#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_reader.h"
#include "core/cluster/cluster.h"
#include "core/cluster/device_json.h"
#include "core/cluster/link_json.h"
#include "core/cluster/most_devices.h"

namespace stagewright {
namespace {

constexpr std::int64_t kVersion = 1;

/// Reads the nodes of a cluster file; device types are collected on the way.
class NodeReader {
 public:
  NodeReader(const DataFiles& files, Cluster& cluster) : files_(files), cluster_(cluster) {}

  void read(JsonReader& reader) {
    Node node;
    node.name = reader.text_or("name", "");
    const std::int64_t count = reader.count_or("count", 1);
    if (!node.name.empty() && count != 1) {
      reader.reject("name", "names one host, but count is more than 1; leave one of them out");
    }
    const std::vector<std::string> devices = device_texts(reader);
    for (const std::string& text : devices) {
      add(reader, text, node);
    }
    total_ += count * static_cast<std::int64_t>(node.devices.size());
    if (count > kMostDevices || total_ > kMostDevices) {
      reader.reject("count",
                    fmt::format("leads to more than the {} devices supported", kMostDevices));
    }
    if (!reader.failed()) {
      cluster_.nodes.insert(cluster_.nodes.end(), static_cast<std::size_t>(count), node);
    }
  }

 private:
  static std::vector<std::string> device_texts(JsonReader& reader) {
    const nlohmann::json* value = reader.raw("devices");
    std::vector<std::string> texts;
    if (value != nullptr && value->is_string()) {
      texts.push_back(value->get<std::string>());
    } else {
      texts = reader.texts("devices");
    }
    if (!reader.failed() && texts.empty()) {
      reader.reject("devices", "is required; for example \"8xh100-sxm\"");
    }
    return texts;
  }

  /// "8xh100-sxm"
  void add(JsonReader& reader, const std::string& text, Node& node) {
    std::int64_t count = 0;
    const char* end = text.data() + text.size();
    const auto [rest, problem] = std::from_chars(text.data(), end, count);
    if (problem != std::errc{} || rest == end || *rest != 'x' || count < 1 ||
        count > kMostDevices) {
      reader.reject("devices",
                    fmt::format("'{}' is not COUNTxTYPE; for example \"8xh100-sxm\"", text));
      return;
    }
    const auto type = type_index(reader, std::string_view(rest + 1, end));
    if (type) {
      node.devices.insert(node.devices.end(), static_cast<std::size_t>(count), *type);
    }
  }

  std::optional<std::int32_t> type_index(JsonReader& reader, std::string_view name) {
    const auto matches = [&](const DeviceType& type) {
      return type.name == name || std::ranges::find(type.aliases, name) != type.aliases.end();
    };
    const auto found = std::ranges::find_if(cluster_.types, matches);
    if (found != cluster_.types.end()) {
      return static_cast<std::int32_t>(found - cluster_.types.begin());
    }
    auto type = find_device(files_, name);
    if (!type) {
      reader.reject("devices", type.error().to_string());
      return std::nullopt;
    }
    cluster_.types.push_back(std::move(*type));
    return static_cast<std::int32_t>(cluster_.types.size() - 1);
  }

  const DataFiles& files_;
  Cluster& cluster_;
  std::int64_t total_ = 0;
};

SwitchTier read_tier(JsonReader& reader) {
  SwitchTier tier;
  tier.name = reader.text("name");
  tier.nodes = reader.count("nodes");
  tier.over_subscription = reader.number_or("over_subscription", 1);
  if (!reader.failed() && !(tier.over_subscription >= 1)) {
    reader.reject("over_subscription", "must be 1 (full bandwidth) or more");
  }
  tier.latency = reader.duration("latency");
  return tier;
}

std::optional<LinkSpec> read_optional_link(JsonReader& reader, std::string_view key) {
  std::optional<LinkSpec> link;
  reader.object(key, [&](JsonReader& inner) { link = read_link(inner); });
  return link;
}

/// Equal neighbours without a name share one entry.
nlohmann::ordered_json nodes_to_json(const Cluster& cluster) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (std::size_t n = 0; n < cluster.nodes.size();) {
    const Node& node = cluster.nodes[n];
    std::size_t same = 1;
    while (node.name.empty() && n + same < cluster.nodes.size() &&
           cluster.nodes[n + same] == node) {
      ++same;
    }
    nlohmann::ordered_json entry;
    if (!node.name.empty()) {
      entry["name"] = node.name;
    }
    if (same > 1) {
      entry["count"] = same;
    }
    entry["devices"] = nlohmann::ordered_json::array();
    for (std::size_t d = 0; d < node.devices.size();) {
      std::size_t run = 1;
      while (d + run < node.devices.size() && node.devices[d + run] == node.devices[d]) {
        ++run;
      }
      entry["devices"].push_back(
          fmt::format("{}x{}", run, cluster.types[static_cast<std::size_t>(node.devices[d])].name));
      d += run;
    }
    list.push_back(std::move(entry));
    n += same;
  }
  return list;
}

}  // namespace

Result<Cluster> parse_cluster(const DataFiles& files,
                              std::string_view text,
                              std::string_view where) {
  auto json = parse_json(text, where);
  if (!json) {
    return pass_on(std::move(json));
  }
  JsonReader reader(*json, std::string(where));
  Cluster cluster;
  if (const std::int64_t version = reader.integer_or("version", kVersion);
      !reader.failed() && version != kVersion) {
    reader.reject("version",
                  fmt::format("is {}; this program reads version {}", version, kVersion));
  }
  cluster.name = reader.text("name");
  (void)reader.texts("aliases");
  reader.ignore("description");
  reader.ignore("sources");
  reader.objects("device_types",
                 [&](JsonReader& device) { cluster.types.push_back(read_device(device)); });
  NodeReader nodes(files, cluster);
  reader.objects("nodes", [&](JsonReader& node) { nodes.read(node); });
  if (!reader.failed() && cluster.nodes.empty()) {
    reader.reject("nodes", R"(is required; for example [{"count": 16, "devices": "8xh100-sxm"}])");
  }
  reader.objects("tiers", [&](JsonReader& tier) { cluster.tiers.push_back(read_tier(tier)); });
  cluster.intra_node = read_optional_link(reader, "intra_node");
  cluster.inter_node = read_optional_link(reader, "inter_node");
  if (auto done = reader.finish(); !done) {
    return pass_on(std::move(done));
  }
  return cluster;
}

std::string to_json_text(const Cluster& cluster) {
  nlohmann::ordered_json json = {{"version", kVersion}, {"name", cluster.name}};
  json["device_types"] = nlohmann::ordered_json::array();
  for (const DeviceType& type : cluster.types) {
    json["device_types"].push_back(to_json(type));
  }
  json["nodes"] = nodes_to_json(cluster);
  for (const SwitchTier& tier : cluster.tiers) {
    json["tiers"].push_back({{"name", tier.name},
                             {"nodes", tier.nodes},
                             {"over_subscription", tier.over_subscription},
                             {"latency", to_exact_string(tier.latency)}});
  }
  if (cluster.intra_node) {
    json["intra_node"] = to_json(*cluster.intra_node);
  }
  if (cluster.inter_node) {
    json["inter_node"] = to_json(*cluster.inter_node);
  }
  return json.dump(2) + "\n";
}

}  // namespace stagewright
