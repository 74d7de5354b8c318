#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace stagewright {

/// The fields of one object of a measured record.  A field that is absent or null is unknown; one
/// of a wrong type or beyond its range is a fault.  The first fault of a record is kept, as
/// "section.field: what is wrong with it", and names the field.
class RecordFields {
 public:
  /// `record` must outlive this; `fault` collects the first fault of all sections of the record.
  RecordFields(const nlohmann::json& record, std::string section, std::string& fault);

  /// The value of a field that is there and not null, else nullptr.
  [[nodiscard]] const nlohmann::json* find(const char* key) const;
  [[nodiscard]] const nlohmann::json* object() const { return object_; }

  /// A whole number from `least` to `most`.
  std::optional<std::int64_t> size(const char* key, std::int64_t most, std::int64_t least = 1);
  /// The same, and 1 with a fault where it is unknown.
  std::int64_t required_size(const char* key, std::int64_t most);
  /// A degree of parallelism, or a size of a batch.
  std::int32_t degree(const char* key);
  std::int32_t degree_or(const char* key, std::int32_t fallback);
  /// A number above 0 and up to `most`.
  std::optional<double> positive(const char* key, double most);
  std::optional<bool> flag(const char* key);
  std::optional<std::string> text(const char* key);
  /// Text that holds a letter: a name, where a number was written as text or nothing at all.
  std::optional<std::string> name(const char* key);

  void reject(std::string_view key, std::string_view message);

 private:
  std::string section_;
  const nlohmann::json* object_ = nullptr;
  std::string* fault_;
};

/// More ranks, replicas or sequences than any run has.
inline constexpr std::int64_t kMostDegree = 1'000'000;

}  // namespace stagewright
