#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "core/base/suggest.h"
#include "core/cluster/cluster.h"

namespace stagewright {
namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(
      lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

}  // namespace

Result<DeviceType> find_device(const DataFiles& files, std::string_view name) {
  const std::string wanted = lower_case(name);
  std::vector<std::string> known;
  for (const std::string& file : files.list("hardware")) {
    auto device = parse_device(*files.find(file), files.where(file));
    if (!device) {
      return device;
    }
    if (device->name == wanted ||
        std::ranges::find(device->aliases, wanted) != device->aliases.end()) {
      return device;
    }
    known.push_back(device->name);
    known.insert(known.end(), device->aliases.begin(), device->aliases.end());
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  return fail(ErrorCode::kNotFound,
              fmt::format("'{}' is not a known device type{}", name, suggestion(wanted, names)));
}

}  // namespace stagewright
