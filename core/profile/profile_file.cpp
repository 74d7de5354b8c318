#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_reader.h"
#include "core/profile/profile.h"

namespace stagewright {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kFormat = "stagewright-profile";
constexpr std::int64_t kVersion = 1;
/// No operation, layer or message takes that long: what does is a slip of units.
constexpr Duration kLongest = std::chrono::hours(1);
constexpr Bytes kLargest{std::int64_t{1} << 44};

/// Times stand as whole picoseconds with their unit: exact, and still readable.
std::string exact(Duration time) {
  return fmt::format("{} ps", time.count());
}
std::string exact(Bytes size) {
  return fmt::format("{} B", size.count());
}

void write_time(ordered_json& json, const MeasuredTime& time) {
  json["median"] = exact(time.median);
  json["spread"] = exact(time.spread);
  json["samples"] = time.samples;
}

ordered_json to_json(const MeasuredOperation& operation) {
  ordered_json json = {{"key", operation.key}};
  write_time(json, operation.time);
  return json;
}

ordered_json to_json(const MeasuredSegment& segment) {
  ordered_json json = {{"key", segment.key},
                       {"name", segment.name},
                       {"operations", segment.operations},
                       {"memory", exact(segment.memory)}};
  write_time(json, segment.time);
  return json;
}

ordered_json to_json(const MeasuredLink& link) {
  ordered_json json = {
      {"operation", link.operation}, {"ranks", link.ranks}, {"bytes", exact(link.bytes)}};
  write_time(json, link.time);
  if (link.in_layers) {
    json["in_layers"] = true;
  }
  return json;
}

/// One entry a line.
template <class Item>
std::string lines(const std::vector<Item>& items) {
  std::string text;
  for (const Item& item : items) {
    text += text.empty() ? "\n    " : ",\n    ";
    text += to_json(item).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }
  return "[" + text + "]";
}

Duration read_time_of(JsonReader& reader, std::string_view key) {
  const Duration time = reader.duration(key);
  if (!reader.failed() && (time < Duration{} || time > kLongest)) {
    reader.reject(
        key, fmt::format("{} is no measured time; it must lie between 0 and 1 h", to_string(time)));
  }
  return time;
}

Bytes read_size(JsonReader& reader, std::string_view key) {
  const Bytes size = reader.bytes(key);
  if (!reader.failed() && (size < Bytes{} || size > kLargest)) {
    reader.reject(key, fmt::format("must lie between 0 and {}", to_string(kLargest)));
  }
  return size;
}

MeasuredTime read_time(JsonReader& reader) {
  return {read_time_of(reader, "median"), read_time_of(reader, "spread"), reader.count("samples")};
}

std::string read_name(JsonReader& reader, std::string_view key) {
  std::string name = reader.text(key);
  if (name.empty()) {
    reader.reject(key, "is empty");
  }
  return name;
}

MeasuredOperation read_operation(JsonReader& reader) {
  return {read_name(reader, "key"), read_time(reader)};
}

MeasuredSegment read_segment(JsonReader& reader) {
  MeasuredSegment segment;
  segment.key = read_name(reader, "key");
  segment.name = reader.text("name");
  segment.operations = reader.count("operations");
  segment.memory = read_size(reader, "memory");
  segment.time = read_time(reader);
  return segment;
}

MeasuredLink read_link(JsonReader& reader) {
  MeasuredLink link;
  link.operation = read_name(reader, "operation");
  link.ranks = reader.count("ranks");
  if (!reader.failed() && link.ranks < 2) {
    reader.reject("ranks", "is 1; a message needs 2 or more");
  }
  link.bytes = read_size(reader, "bytes");
  link.time = read_time(reader);
  link.in_layers = reader.boolean_or("in_layers", false);
  return link;
}

/// Reads a list whose entries must each be `before` the next one, so that look-ups find them and
/// none stands there twice.
template <class Item, class Before>
std::vector<Item> read_ascending(JsonReader& reader,
                                 std::string_view list,
                                 std::string_view key,
                                 Item (*read)(JsonReader&),
                                 Before before) {
  std::vector<Item> items;
  reader.objects(list, [&](JsonReader& inner) {
    Item item = read(inner);
    if (!inner.failed() && !items.empty() && !before(items.back(), item)) {
      inner.reject(key, "stands behind an entry that is equal or comes after it; sort the list");
    }
    items.push_back(std::move(item));
  });
  return items;
}

}  // namespace

std::string to_json_text(const Profile& profile) {
  const auto text = [](const ordered_json& json) {
    return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  };
  return fmt::format(
      "{{\n  \"format\": \"{}\",\n  \"version\": {},\n  \"device\": {},\n"
      "  \"concurrent_ranks\": {},\n  \"made_by\": {},\n"
      "  \"operations\": {},\n  \"segments\": {},\n  \"links\": {}\n}}\n",
      kFormat,
      kVersion,
      text(profile.device),
      profile.concurrent_ranks,
      text(ordered_json(profile.made_by)),
      lines(profile.operations),
      lines(profile.segments),
      lines(profile.links));
}

Result<Profile> parse_profile(std::string_view text, std::string_view where) {
  const auto json = parse_json(text, where);
  if (!json) {
    return tl::unexpected<Error>(json.error());
  }
  if (!json->is_object() || json->value("format", nlohmann::json()) != kFormat) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format(R"(is no profile: the key "format" must be "{}")", kFormat),
                std::string(where));
  }
  JsonReader reader(*json, std::string(where));
  reader.ignore("format");
  if (const auto version = reader.integer("version"); !reader.failed() && version != kVersion) {
    reader.reject("version",
                  fmt::format("is {}; this program reads version {}", version, kVersion));
  }
  Profile profile;
  profile.device = read_name(reader, "device");
  profile.concurrent_ranks = reader.count("concurrent_ranks");
  const nlohmann::json* made_by = reader.raw("made_by");
  reader.object("made_by", [&](JsonReader& inner) {
    if (made_by->is_object()) {
      for (const auto& item : made_by->items()) {
        profile.made_by[item.key()] = inner.text(item.key());
      }
    }
  });
  const auto by_key = [](const auto& a, const auto& b) { return a.key < b.key; };
  profile.operations = read_ascending(reader, "operations", "key", read_operation, by_key);
  profile.segments = read_ascending(reader, "segments", "key", read_segment, by_key);
  profile.links = read_ascending(reader, "links", "operation", read_link, in_order);
  if (auto done = reader.finish(); !done) {
    return pass_on(std::move(done));
  }
  return profile;
}

}  // namespace stagewright
