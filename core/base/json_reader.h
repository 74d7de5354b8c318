#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/base/result.h"
#include "core/base/units.h"

namespace stagewright {

/// Parses text to JSON.  A syntax error names `where` with line and column, a key that stands twice
/// in one object (of which others silently take the last) its place.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text, std::string_view where);

/// Reads one JSON object strictly, collecting the first error instead of throwing:
///
///   JsonReader reader(json, "h200.json");
///   device.name = reader.text("name");
///   device.memory = reader.bytes("memory");
///   if (auto done = reader.finish(); !done) return pass_on(std::move(done));
///
/// After the first error every read returns a default-constructed value, so callers
/// check once, at `finish()`, which also rejects keys that nobody asked for.
/// The JSON value must outlive the reader.
class JsonReader {
 public:
  /// `where` is the file; `path` the JSON pointer of `object` in it ("" for the root).
  JsonReader(const nlohmann::json& object, std::string where, std::string path = {});

  [[nodiscard]] bool has(std::string_view key);

  // Required keys: absent, null or of another type is an error.
  [[nodiscard]] std::string text(std::string_view key);
  [[nodiscard]] std::int64_t integer(std::string_view key);   ///< exact integers only
  [[nodiscard]] std::int64_t positive(std::string_view key);  ///< integer >= 1
  [[nodiscard]] std::int32_t count(std::string_view key);     ///< 1 .. 2^31 - 1
  [[nodiscard]] double number(std::string_view key);
  [[nodiscard]] bool boolean(std::string_view key);
  [[nodiscard]] Bytes bytes(std::string_view key);               ///< "80 GiB"
  [[nodiscard]] Duration duration(std::string_view key);         ///< "2 us"
  [[nodiscard]] BytesPerSecond bandwidth(std::string_view key);  ///< "450 GB/s"
  [[nodiscard]] FlopsPerSecond rate(std::string_view key);       ///< "312 TFLOP/s"

  // Optional keys: absent or null gives the fallback.
  [[nodiscard]] std::string text_or(std::string_view key, std::string fallback);
  [[nodiscard]] std::int64_t integer_or(std::string_view key, std::int64_t fallback);
  [[nodiscard]] std::int64_t positive_or(std::string_view key, std::int64_t fallback);
  [[nodiscard]] std::int32_t count_or(std::string_view key, std::int32_t fallback);
  [[nodiscard]] double number_or(std::string_view key, double fallback);
  [[nodiscard]] bool boolean_or(std::string_view key, bool fallback);

  /// Array of strings; absent gives an empty list.
  [[nodiscard]] std::vector<std::string> texts(std::string_view key);
  /// Array of integers; absent gives an empty list.
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view key);

  /// Calls `read` with a reader for the object at `key`; its errors become ours.
  /// Returns whether the key was there.  Unknown keys inside are errors too.
  bool object(std::string_view key, const std::function<void(JsonReader&)>& read);
  /// The same for each object of the array at `key`.  Absent means no call.
  void objects(std::string_view key, const std::function<void(JsonReader&)>& read);
  /// The raw value (marked as read), or null if absent.
  [[nodiscard]] const nlohmann::json* raw(std::string_view key);
  /// Declares a key as known without reading it.
  void ignore(std::string_view key);

  /// The value of the string at `key` among `names`, as an index into it.
  [[nodiscard]] std::size_t one_of(std::string_view key,
                                   const std::vector<std::string_view>& names);

  /// Records an error of the caller's own about `key` (kept if it is the first).
  void reject(std::string_view key, std::string message);
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  [[nodiscard]] std::string where(std::string_view key) const;

  /// First error (of an absent key with the unknown key that may be a slip for it), or an error
  /// for a key that was never asked for (with the nearest known one), or success.
  [[nodiscard]] Result<void> finish();

 private:
  [[nodiscard]] const nlohmann::json* find(std::string_view key, bool required);
  [[nodiscard]] std::vector<std::string> unknown_keys() const;
  void wrong_type(std::string_view key, std::string_view expected);

  const nlohmann::json* object_;
  std::string where_;
  std::string path_;
  std::vector<std::string> asked_;
  std::optional<Error> error_;
  std::optional<std::string> absent_;  ///< the required key that the error is about
};

}  // namespace stagewright
