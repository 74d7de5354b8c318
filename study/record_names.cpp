#include "study/record_names.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <regex>
#include <vector>

#include "core/cluster/cluster.h"

namespace stagewright {
namespace {

/// Letters and digits in lower case, everything between them as one '-'.
std::string normal_form(const std::string& words) {
  std::string text;
  for (const char letter : words) {
    const auto code = static_cast<unsigned char>(letter);
    if (std::isalnum(code) != 0) {
      text += static_cast<char>(std::tolower(code));
    } else if (!text.empty() && text.back() != '-') {
      text += '-';
    }
  }
  if (!text.empty() && text.back() == '-') {
    text.pop_back();
  }
  return text;
}

/// Whether `text` is `name`, or goes on behind it with another word.
bool begins_with_word(const std::string& text, const std::string& name) {
  return text.starts_with(name) && (text.size() == name.size() || text[name.size()] == '-');
}

/// Whether the words of `name` stand in a row in `text`.
bool has_words(const std::string& text, const std::string& name) {
  return ("-" + text + "-").find("-" + name + "-") != std::string::npos;
}

/// The device whose longest name stands in the words: "NVIDIA GeForce RTX 4090", "Tesla T4".
Result<DeviceType> device_within(const DataFiles& files, const std::string& words) {
  const std::string text = normal_form(words);
  std::optional<DeviceType> best;
  std::size_t longest = 0;
  for (const std::string& file : files.list("hardware")) {
    auto device = parse_device(files.find(file).value_or(""), files.where(file));
    if (!device) {
      return device;
    }
    std::vector<std::string> names = device->aliases;
    names.push_back(device->name);
    for (const std::string& name : names) {
      if (name.size() > longest && has_words(text, name)) {
        longest = name.size();
        best = *device;
      }
    }
  }
  if (best) {
    return *std::move(best);
  }
  return find_device(files, words);
}

}  // namespace

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
    return device_within(files, words);
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
  auto within = device_within(files, words);
  // A size that no file of that device has is another device.
  const bool other =
      within && has_memory && within->name.find("-" + memory[1].str() + "gb") == std::string::npos;
  return other ? exact : within;
}

Result<FrameworkProfile> framework_named(const DataFiles& files, const std::string& words) {
  auto exact = find_framework(files, words);
  if (exact) {
    return exact;
  }
  const std::string wanted = normal_form(words);
  std::optional<FrameworkProfile> best;
  std::size_t longest = 0;
  bool begins = false;
  for (const std::string& file : files.list("frameworks")) {
    auto framework = parse_framework(files.find(file).value_or(""), files.where(file));
    if (!framework) {
      return framework;
    }
    std::vector<std::string> names = framework->aliases;
    names.push_back(framework->name);
    for (const std::string& name : names) {
      // What the words begin with goes before what stands among them.
      const bool first = begins_with_word(wanted, normal_form(name));
      if ((first || (!begins && has_words(wanted, normal_form(name)))) &&
          (first > begins || name.size() > longest)) {
        longest = name.size();
        begins = first;
        best = *framework;
      }
    }
  }
  if (best) {
    return *std::move(best);
  }
  return exact;
}

}  // namespace stagewright
