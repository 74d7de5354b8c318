#include "study/record_setup.h"

#include <algorithm>
#include <optional>
#include <regex>
#include <utility>
#include <vector>

#include "core/cluster/cluster.h"

namespace stagewright {
namespace {

/// "4x100 Gb/s ... per node", "(8x400 Gb/s NDR)", "1600 Gb/s RoCE per node", "400 Gb/s ... per
/// GPU".
void read_network(const std::string& words, std::int32_t devices_per_node, LinkSpec& link) {
  static const std::regex kPorts(R"((?:(\d+)\s*x\s*)?(\d+(?:\.\d+)?)\s*Gb/s)");
  std::smatch match;
  if (!std::regex_search(words, match, kPorts)) {
    return;
  }
  const double rate = std::stod(match[2].str()) * 1e9 / 8;
  if (match[1].matched) {
    const std::int32_t ports = std::max(1, std::stoi(match[1].str()));
    link.bandwidth = BytesPerSecond(rate);
    link.devices_per_port = std::max(1, devices_per_node / ports);
  } else if (words.find("per node") != std::string::npos) {
    link.bandwidth = BytesPerSecond(rate / devices_per_node);
    link.devices_per_port = 1;
  } else {
    link.bandwidth = BytesPerSecond(rate);
    link.devices_per_port = 1;
  }
  link.name = words;
}

/// The device of that name; or of the names that its words allow: "NVIDIA H100 80GB SXM5",
/// "A100-SXM4-40GB" and "h100_sxm" mean the model, memory and form of a device file.
Result<DeviceType> device_named(const DataFiles& files, const std::string& words) {
  auto exact = find_device(files, words);
  if (exact) {
    return exact;
  }
  static const std::regex kModel(R"((gh|gb|[abhlv]|mi|rtx ?)\d+[a-z]{0,2})", std::regex::icase);
  static const std::regex kMemory(R"((\d+) ?g(i)?b)", std::regex::icase);
  static const std::regex kForm(R"((sxm|pcie|nvl))", std::regex::icase);
  std::smatch model;
  if (!std::regex_search(words, model, kModel)) {
    return exact;
  }
  const std::string base = model[0].str();
  std::smatch memory;
  std::smatch form;
  const bool has_memory = std::regex_search(words, memory, kMemory);
  const bool has_form = std::regex_search(words, form, kForm);
  std::vector<std::string> names;
  if (has_memory && has_form) {
    names.push_back(base + "-" + memory[1].str() + "gb-" + form[0].str());
  }
  if (has_memory) {
    names.push_back(base + "-" + memory[1].str() + "gb-sxm");
    names.push_back(base + "-" + memory[1].str() + "gb");
  } else if (has_form) {
    names.push_back(base + "-" + form[0].str());
  } else {
    names.push_back(base);
  }
  for (const std::string& name : names) {
    if (auto found = find_device(files, name)) {
      return found;
    }
  }
  return exact;
}

/// Devices under one NVLink switch system: "NVL72" says so, else the node.
std::int32_t domain_of(const std::string& words, std::int32_t devices_per_node) {
  static const std::regex kDomain(R"(NVL(\d+))");
  std::smatch match;
  if (std::regex_search(words, match, kDomain)) {
    return std::max(1, std::stoi(match[1].str()));
  }
  return devices_per_node;
}

}  // namespace

Result<TrainingSetup> RecordSetups::setup_of(const MeasuredRecord& record) {
  auto device = devices_.find(record.device);
  if (device == devices_.end()) {
    device = devices_.emplace(record.device, device_named(*files_, record.device)).first;
  }
  if (!device->second) {
    return tl::unexpected<Error>(device->second.error());
  }
  auto framework = frameworks_.find(record.framework);
  if (framework == frameworks_.end()) {
    auto found = find_framework(*files_, record.framework);
    if (!found) {
      found = default_framework(*files_);
      if (!found) {
        return pass_on(std::move(found));
      }
    }
    framework = frameworks_.emplace(record.framework, *std::move(found)).first;
  }
  TrainingSetup setup;
  setup.run = record.run;
  setup.device = *device->second;
  setup.framework = framework->second;
  setup.intra_node = setup.device.intra_node;
  setup.inter_node = setup.device.inter_node;
  setup.domain = domain_of(record.intra_link, record.devices_per_node);
  read_network(record.inter_link, record.devices_per_node, setup.inter_node);
  return setup;
}

}  // namespace stagewright
