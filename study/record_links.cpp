#include "study/record_links.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <regex>
#include <string_view>

#include <fmt/format.h>

#include "core/base/units.h"

namespace stagewright {
namespace {

/// Fastest port that there is, bit/s.
constexpr double kFastestPort = 800e9;

std::string lower_case(std::string_view words) {
  std::string text(words);
  std::ranges::transform(
      text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool says_any(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

/// "4x100 Gb/s": ports, 0 where no number of them is said, and the bits per second of one.
struct StatedRate {
  std::int32_t ports = 0;
  double rate = 0;
};

StatedRate stated_rate(const std::smatch& match) {
  StatedRate stated{.ports = match[1].matched ? std::stoi(match[1].str()) : 0,
                    .rate = std::stod(match[2].str())};
  const char prefix = static_cast<char>(std::tolower(match[3].str().front()));
  stated.rate *= prefix == 't' ? 1e12 : prefix == 'g' ? 1e9 : 1e6;
  if (match[4].str().front() == 'B') {
    stated.rate *= 8;
  }
  return stated;
}

}  // namespace

Result<void> read_network(const std::string& words, std::int32_t devices_per_node, LinkSpec& link) {
  static const std::regex kRate(
      R"((?:(\d{1,4})\s*x\s*)?(\d{1,7}(?:\.\d{1,6})?)\s*([GTM])(b/s|bps|bit/s|bits/s|bE|B/s|Bps))");
  std::smatch match;
  if (!std::regex_search(words, match, kRate)) {
    return {};
  }
  const StatedRate stated = stated_rate(match);
  if (stated.rate <= 0 || (match[1].matched && stated.ports <= 0)) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("'{}' names a rate of 0", words),
                "cluster.inter_link");
  }
  const std::string text = lower_case(words);
  const bool of_device =
      says_any(text, {"per gpu", "/gpu", "per device", "per card", "per chip", "per accelerator"});
  const bool of_node =
      says_any(text, {"per node", "/node", "per host", "per server", "a node"}) ||
      (!of_device && (stated.rate > kFastestPort || says_any(text, {"ethernet", "efa", "gbe"})));
  link.bandwidth = BytesPerSecond(stated.rate / 8);
  link.devices_per_port = 1;
  link.name = words;
  if (of_device) {
    link.bandwidth = BytesPerSecond(stated.rate / 8 * std::max(1, stated.ports));
  } else if (stated.ports > 0) {
    link.devices_per_port = std::max(1, devices_per_node / stated.ports);
  } else if (of_node && stated.rate <= kFastestPort && !says_any(text, {"efa"})) {
    // One port that all devices of the node share: a group that is alone has it to itself.
    link.devices_per_port = devices_per_node;
  } else if (of_node) {
    link.bandwidth = BytesPerSecond(stated.rate / 8 / devices_per_node);
  }
  return {};
}

void read_node_link(const std::string& words, LinkSpec& link) {
  const std::string text = lower_case(words);
  if (!says_any(text, {"pcie"}) || says_any(text, {"nvlink", "nvswitch", "xgmi"}) ||
      link.name.starts_with("pcie")) {
    return;
  }
  // A direction of 16 lanes; their reached share and latency as in the files of PCIe devices.
  constexpr std::array<double, 3> kRates{15.5e9, 31e9, 63e9};
  static const std::regex kGeneration(R"(pcie[^0-9]{0,6}([345])(?:\.0)?(?![0-9]))");
  std::smatch match;
  const std::size_t generation = std::regex_search(text, match, kGeneration)
                                     ? static_cast<std::size_t>(match[1].str().front() - '3')
                                     : 1;
  link = {.name = fmt::format("pcie{}", generation + 3),
          .bandwidth = BytesPerSecond(kRates.at(generation)),
          .latency = std::chrono::microseconds(6),
          .efficiency = 0.7,
          .devices_per_port = 1,
          .ramp = Bytes(0)};
}

std::int32_t domain_of(const std::string& words, std::int32_t devices_per_node) {
  static const std::regex kDomain(R"(NVL(\d{1,4}))");
  std::smatch match;
  if (std::regex_search(words, match, kDomain)) {
    return std::max(1, std::stoi(match[1].str()));
  }
  return devices_per_node;
}

}  // namespace stagewright
