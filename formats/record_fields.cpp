#include "formats/record_fields.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace stagewright {
namespace {

/// The value as the record writes it, cut where it is long.
std::string quoted(const nlohmann::json& value) {
  constexpr std::size_t kLongest = 40;
  std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() > kLongest) {
    text.resize(kLongest);
    text += "...";
  }
  return text;
}

}  // namespace

RecordFields::RecordFields(const nlohmann::json& record, std::string section, std::string& fault)
    : section_(std::move(section)), fault_(&fault) {
  if (section_.empty()) {
    object_ = &record;
    return;
  }
  const auto found = record.find(section_);
  if (found == record.end() || !found->is_object()) {
    reject("", found == record.end() ? "is required but absent" : "is no object");
  } else {
    object_ = &*found;
  }
}

const nlohmann::json* RecordFields::find(const char* key) const {
  if (object_ == nullptr) {
    return nullptr;
  }
  const auto found = object_->find(key);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::int64_t> RecordFields::size(const char* key,
                                               std::int64_t most,
                                               std::int64_t least) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  const double number = value->is_number() ? value->get<double>() : -1.0;
  const bool inside = number >= static_cast<double>(least) && number <= static_cast<double>(most);
  if (!value->is_number() || !inside || std::floor(number) != number) {
    reject(key, fmt::format("{} is no size from {} to {}", quoted(*value), least, most));
    return std::nullopt;
  }
  return static_cast<std::int64_t>(number);
}

std::int64_t RecordFields::required_size(const char* key, std::int64_t most) {
  const auto value = size(key, most);
  if (!value) {
    reject(key, "is not stated");
  }
  return value.value_or(1);
}

std::int32_t RecordFields::degree(const char* key) {
  return static_cast<std::int32_t>(required_size(key, kMostDegree));
}

std::int32_t RecordFields::degree_or(const char* key, std::int32_t fallback) {
  return static_cast<std::int32_t>(size(key, kMostDegree).value_or(fallback));
}

std::optional<double> RecordFields::positive(const char* key, double most) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  const double number = value->is_number() ? value->get<double>() : 0.0;
  if (!std::isfinite(number) || number <= 0 || number > most) {
    reject(key, fmt::format("{} is no number above 0 and up to {:g}", quoted(*value), most));
    return std::nullopt;
  }
  return number;
}

std::optional<bool> RecordFields::flag(const char* key) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_boolean()) {
    reject(key, fmt::format("{} is neither true nor false", quoted(*value)));
    return std::nullopt;
  }
  return value->get<bool>();
}

std::optional<std::string> RecordFields::text(const char* key) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_string()) {
    reject(key, fmt::format("{} is no text", quoted(*value)));
    return std::nullopt;
  }
  return value->get<std::string>();
}

std::optional<std::string> RecordFields::name(const char* key) {
  auto words = text(key);
  if (words && std::ranges::none_of(*words, [](unsigned char c) { return std::isalpha(c) != 0; })) {
    reject(key, fmt::format("'{}' is no name", *words));
    return std::nullopt;
  }
  return words;
}

void RecordFields::reject(std::string_view key, std::string_view message) {
  if (!fault_->empty()) {
    return;
  }
  if (section_.empty()) {
    *fault_ = fmt::format("{}: {}", key, message);
  } else if (key.empty()) {
    *fault_ = fmt::format("{}: {}", section_, message);
  } else {
    *fault_ = fmt::format("{}.{}: {}", section_, key, message);
  }
}

}  // namespace stagewright
