#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/base/json_reader.h"
#include "core/cluster/cluster.h"
#include "core/cluster/most_devices.h"

namespace stagewright {
namespace {

/// Takes "16x" from the front of `text`; nothing if it does not begin so.
std::optional<std::int64_t> take_count(std::string_view& text) {
  std::int64_t count = 0;
  const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (problem != std::errc{} || rest == text.data() + text.size() ||
      (*rest != 'x' && *rest != 'X')) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()) + 1);
  return count;
}

struct ShortForm {
  std::int64_t nodes = 1;
  std::int64_t devices = 1;
  std::string_view type;
};

std::optional<ShortForm> split_short_form(std::string_view text) {
  ShortForm form;
  const auto first = take_count(text);
  if (!first) {
    return std::nullopt;
  }
  form.devices = *first;
  if (const auto second = take_count(text)) {
    form.nodes = *first;
    form.devices = *second;
  }
  form.type = text;
  return form;
}

Result<Cluster> from_short_form(const DataFiles& files,
                                std::string_view name,
                                const ShortForm& form) {
  if (form.type.find_first_not_of("0123456789") == std::string_view::npos) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("cluster '{}' names no device type; write NODESxDEVICESxTYPE, for "
                            "example 16x8xh100-sxm",
                            name));
  }
  if (form.nodes < 1 || form.devices < 1) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("cluster '{}' has {} nodes of {} devices; both must be 1 or more, for "
                            "example 16x8xh100-sxm",
                            name,
                            form.nodes,
                            form.devices));
  }
  if (form.nodes > kMostDevices || form.devices > kMostDevices / form.nodes) {
    return fail(
        ErrorCode::kInvalidInput,
        fmt::format(
            "cluster '{}' has more than the {} devices that are supported", name, kMostDevices));
  }
  auto type = find_device(files, form.type);
  if (!type) {
    type.error().message = fmt::format("in cluster '{}': {}", name, type.error().message);
    return pass_on(std::move(type));
  }
  Cluster cluster;
  cluster.name = name;
  cluster.types.push_back(std::move(*type));
  cluster.nodes.assign(static_cast<std::size_t>(form.nodes),
                       Node{"", std::vector<std::int32_t>(static_cast<std::size_t>(form.devices))});
  return cluster;
}

/// Name and aliases of a cluster file.
std::vector<std::string> names_of(const nlohmann::json& json) {
  std::vector<std::string> names;
  if (const auto name = json.find("name"); name != json.end() && name->is_string()) {
    names.push_back(name->get<std::string>());
  }
  if (const auto aliases = json.find("aliases"); aliases != json.end() && aliases->is_array()) {
    for (const auto& alias : *aliases) {
      if (alias.is_string()) {
        names.push_back(alias.get<std::string>());
      }
    }
  }
  return names;
}

bool looks_like_path(std::string_view name) {
  return name.ends_with(".json") || name.find('/') != std::string_view::npos;
}

Result<Cluster> read_cluster_file(const DataFiles& files, std::string_view path) {
  auto content = read_file(std::filesystem::path(path));
  if (!content) {
    return pass_on(std::move(content));
  }
  return parse_cluster(files, *content, path);
}

}  // namespace

Result<Cluster> find_cluster(const DataFiles& files, std::string_view name) {
  std::error_code code;
  if (looks_like_path(name) ||
      std::filesystem::is_regular_file(std::filesystem::path(name), code)) {
    return read_cluster_file(files, name);
  }
  std::vector<std::string> known;
  for (const std::string& file : files.list("clusters")) {
    auto json = parse_json(*files.find(file), files.where(file));
    if (!json) {
      return pass_on(std::move(json));
    }
    std::vector<std::string> names = names_of(*json);
    if (std::ranges::find(names, name) != names.end()) {
      return parse_cluster(files, *files.find(file), files.where(file));
    }
    known.insert(known.end(), names.begin(), names.end());
  }
  if (const auto form = split_short_form(name)) {
    return from_short_form(files, name, *form);
  }
  const bool is_device = find_device(files, name).has_value();
  return fail(
      is_device ? ErrorCode::kInvalidInput : ErrorCode::kNotFound,
      is_device
          ? fmt::format("'{}' is a device type; say how many: 8x{} is one node, 16x8x{} sixteen",
                        name,
                        name,
                        name)
          : fmt::format("'{}' is not a cluster: write NODESxDEVICESxTYPE (for example "
                        "16x8xh100-sxm), the path of a cluster file, or one of {}",
                        name,
                        fmt::join(known, ", ")));
}

}  // namespace stagewright
