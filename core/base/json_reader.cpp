#include "core/base/json_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/duplicate_keys.h"
#include "core/base/suggest.h"

namespace stagewright {

using nlohmann::json;
namespace {

/// What the library read last stands in its messages as bytes, perhaps of half a character: U+FFFD
/// instead of what is no UTF-8, so that the message itself can be written as JSON.
std::string as_utf8(std::string_view text) {
  const std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  return json::parse(quoted).get<std::string>();
}

/// Of a text whose `read`th byte, counted from 1, cannot stand there.
tl::unexpected<Error> broken(std::string_view text,
                             std::size_t read,
                             std::string_view reason,
                             std::string_view where) {
  const std::string_view before = text.substr(0, read == 0 ? 0 : read - 1);
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t column = read - (before.rfind('\n') + 1);
  return fail(
      ErrorCode::kInvalidInput,
      fmt::format(
          "not valid JSON at line {}, column {}: {}; is the file complete?", line, column, reason),
      std::string(where));
}

}  // namespace

Result<json> parse_json(std::string_view text, std::string_view where) {
  try {
    // The library takes a zero byte for the end and says nothing of what follows it.
    if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
      return broken(text, zero + 1, "a zero byte", where);
    }
    json root = json::parse(text);
    if (const auto twice = find_duplicate_key(text)) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("the key '{}' stands twice in one object; keep one of them",
                              as_utf8(twice->key)),
                  fmt::format("{}:{}", where, as_utf8(twice->pointer)));
    }
    return root;
  } catch (const json::parse_error& error) {
    const std::string_view what(error.what());
    const std::size_t reason = what.find("syntax error");
    return broken(text,
                  std::min(error.byte, text.size()),
                  as_utf8(reason == std::string_view::npos ? what : what.substr(reason)),
                  where);
  } catch (const json::exception& error) {
    // A number beyond a double, "1e999".
    const std::string_view what(error.what());
    return fail(
        ErrorCode::kInvalidInput,
        fmt::format("not usable JSON: {}", what.substr(std::min(what.find(']') + 2, what.size()))),
        std::string(where));
  }
}

JsonReader::JsonReader(const json& object, std::string where, std::string path)
    : object_(&object), where_(std::move(where)), path_(std::move(path)) {
  if (!object.is_object()) {
    error_ = Error{ErrorCode::kInvalidInput,
                   fmt::format("expected an object {{...}}, found {}", object.type_name()),
                   path_.empty() ? where_ : where_ + ":" + path_};
  }
}

std::string JsonReader::where(std::string_view key) const {
  return fmt::format("{}:{}/{}", where_, path_, key);
}

void JsonReader::reject(std::string_view key, std::string message) {
  if (!error_) {
    error_ = Error{ErrorCode::kInvalidInput, std::move(message), where(key)};
  }
}

const json* JsonReader::find(std::string_view key, bool required) {
  asked_.emplace_back(key);
  if (error_) {
    return nullptr;
  }
  const auto found = object_->find(std::string(key));
  if (found == object_->end() || found->is_null()) {
    if (required) {
      reject(key, "is required but absent; add it");
      absent_ = key;
    }
    return nullptr;
  }
  return &*found;
}

void JsonReader::wrong_type(std::string_view key, std::string_view expected) {
  const auto found = object_->find(std::string(key));
  std::string shown = found->dump();
  if (shown.size() > 60) {
    shown = shown.substr(0, 57) + "...";
  }
  reject(key, fmt::format("expected {}, found {}", expected, shown));
}

bool JsonReader::has(std::string_view key) {
  return find(key, false) != nullptr;
}

std::string JsonReader::text(std::string_view key) {
  const json* value = find(key, true);
  if (value == nullptr) {
    return {};
  }
  if (!value->is_string()) {
    wrong_type(key, "a string");
    return {};
  }
  return value->get<std::string>();
}

std::int64_t JsonReader::integer(std::string_view key) {
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const json* value = find(key, true);
  if (value == nullptr) {
    return 0;
  }
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > kLargest) {
    reject(key, fmt::format("is {}, too large for a 64-bit integer", value->dump()));
    return 0;
  }
  if (value->is_number_integer()) {
    return value->get<std::int64_t>();
  }
  // Some writers emit 4096.0 for an integer; anything with a fraction is an error.
  if (value->is_number_float() && std::abs(value->get<double>()) < 9e15 &&
      std::floor(value->get<double>()) == value->get<double>()) {
    return static_cast<std::int64_t>(value->get<double>());
  }
  wrong_type(key, "an integer");
  return 0;
}

std::int64_t JsonReader::positive(std::string_view key) {
  const std::int64_t value = integer(key);
  if (!error_ && value < 1) {
    reject(key, fmt::format("is {}; it must be 1 or more", value));
  }
  return value;
}

std::int32_t JsonReader::count(std::string_view key) {
  const std::int64_t value = positive(key);
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (!error_ && value > kMost) {
    reject(key, fmt::format("is {}; it must be {} or less", value, kMost));
  }
  return error_ ? 0 : static_cast<std::int32_t>(value);
}

double JsonReader::number(std::string_view key) {
  const json* value = find(key, true);
  if (value == nullptr) {
    return 0;
  }
  if (!value->is_number()) {
    wrong_type(key, "a number");
    return 0;
  }
  return value->get<double>();
}

bool JsonReader::boolean(std::string_view key) {
  const json* value = find(key, true);
  if (value == nullptr) {
    return false;
  }
  if (!value->is_boolean()) {
    wrong_type(key, "true or false");
    return false;
  }
  return value->get<bool>();
}

namespace {
/// The quantity in a string, with a parse error recorded under its key.
template <class Parse>
auto quantity(JsonReader& reader, std::string_view key, Parse parse) {
  using Value = typename decltype(parse(std::string_view{}))::value_type;
  const std::string written = reader.text(key);
  if (reader.failed()) {
    return Value{};
  }
  auto value = parse(written);
  if (!value) {
    reader.reject(key, value.error().message);
    return Value{};
  }
  return *value;
}
}  // namespace

Bytes JsonReader::bytes(std::string_view key) {
  return quantity(*this, key, parse_bytes);
}
Duration JsonReader::duration(std::string_view key) {
  return quantity(*this, key, parse_duration);
}
BytesPerSecond JsonReader::bandwidth(std::string_view key) {
  return quantity(*this, key, parse_bandwidth);
}
FlopsPerSecond JsonReader::rate(std::string_view key) {
  return quantity(*this, key, parse_flop_rate);
}

std::string JsonReader::text_or(std::string_view key, std::string fallback) {
  return has(key) ? text(key) : std::move(fallback);
}
std::int64_t JsonReader::integer_or(std::string_view key, std::int64_t fallback) {
  return has(key) ? integer(key) : fallback;
}
std::int64_t JsonReader::positive_or(std::string_view key, std::int64_t fallback) {
  return has(key) ? positive(key) : fallback;
}
std::int32_t JsonReader::count_or(std::string_view key, std::int32_t fallback) {
  return has(key) ? count(key) : fallback;
}
double JsonReader::number_or(std::string_view key, double fallback) {
  return has(key) ? number(key) : fallback;
}
bool JsonReader::boolean_or(std::string_view key, bool fallback) {
  return has(key) ? boolean(key) : fallback;
}

std::vector<std::string> JsonReader::texts(std::string_view key) {
  std::vector<std::string> result;
  const json* value = find(key, false);
  if (value == nullptr) {
    return result;
  }
  if (!value->is_array() ||
      !std::ranges::all_of(*value, [](const json& item) { return item.is_string(); })) {
    wrong_type(key, "a list of strings");
    return result;
  }
  return value->get<std::vector<std::string>>();
}

std::vector<std::int64_t> JsonReader::integers(std::string_view key) {
  const json* value = find(key, false);
  if (value == nullptr) {
    return {};
  }
  if (!value->is_array() ||
      !std::ranges::all_of(*value, [](const json& item) { return item.is_number_integer(); })) {
    wrong_type(key, "a list of integers");
    return {};
  }
  return value->get<std::vector<std::int64_t>>();
}

bool JsonReader::object(std::string_view key, const std::function<void(JsonReader&)>& read) {
  const json* value = find(key, false);
  if (value == nullptr) {
    return false;
  }
  JsonReader inner(*value, where_, fmt::format("{}/{}", path_, key));
  read(inner);
  if (auto done = inner.finish(); !done && !error_) {
    error_ = std::move(done).error();
  }
  return true;
}

void JsonReader::objects(std::string_view key, const std::function<void(JsonReader&)>& read) {
  const json* value = find(key, false);
  if (value == nullptr) {
    return;
  }
  if (!value->is_array()) {
    wrong_type(key, "a list of objects");
    return;
  }
  for (std::size_t i = 0; i < value->size() && !error_; ++i) {
    JsonReader inner((*value)[i], where_, fmt::format("{}/{}/{}", path_, key, i));
    read(inner);
    if (auto done = inner.finish(); !done) {
      error_ = std::move(done).error();
    }
  }
}

const json* JsonReader::raw(std::string_view key) {
  return find(key, false);
}

void JsonReader::ignore(std::string_view key) {
  asked_.emplace_back(key);
}

std::size_t JsonReader::one_of(std::string_view key, const std::vector<std::string_view>& names) {
  const std::string value = text(key);
  if (failed()) {
    return 0;
  }
  const auto found = std::ranges::find(names, value);
  if (found == names.end()) {
    reject(key, fmt::format("'{}' is not known{}", value, suggestion(value, names)));
    return 0;
  }
  return static_cast<std::size_t>(found - names.begin());
}

std::vector<std::string> JsonReader::unknown_keys() const {
  std::vector<std::string> keys;
  if (object_->is_object()) {
    for (const auto& [key, value] : object_->items()) {
      if (std::ranges::find(asked_, key) == asked_.end()) {
        keys.push_back(key);
      }
    }
  }
  return keys;
}

Result<void> JsonReader::finish() {
  const std::vector<std::string> unknown = unknown_keys();
  if (error_) {
    Error error = *error_;
    const std::vector<std::string_view> candidates(unknown.begin(), unknown.end());
    const auto slip = absent_ ? nearest_name(*absent_, candidates) : std::nullopt;
    if (slip) {
      error.message += fmt::format(" (or is '{}' a slip for it?)", *slip);
    }
    return tl::unexpected<Error>(std::move(error));
  }
  if (!unknown.empty()) {
    std::vector<std::string_view> known;
    for (const std::string& name : asked_) {
      if (std::ranges::find(known, name) == known.end()) {
        known.emplace_back(name);
      }
    }
    const std::string& key = unknown.front();
    return fail(ErrorCode::kInvalidInput,
                fmt::format("unknown key '{}'{}", key, suggestion(key, known)),
                where(key));
  }
  return {};
}

}  // namespace stagewright
