#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"

namespace stagewright {

/// Time of one repeatable thing on the profiled device.
struct MeasuredTime {
  Duration median{};
  Duration spread{};  ///< half of the distance between the quartiles
  std::int32_t samples = 0;
  friend bool operator==(const MeasuredTime&, const MeasuredTime&) = default;
};

/// A single operation, keyed by cost_key(Operation).
struct MeasuredOperation {
  std::string key;
  MeasuredTime time;
  friend bool operator==(const MeasuredOperation&, const MeasuredOperation&) = default;
};

/// A run of operations that was timed as a whole (a layer's forward, its backward, its weight
/// half), keyed by cost_key(span).
struct MeasuredSegment {
  std::string key;
  std::string name;             ///< for people: "block forward, 1 x 128 tokens, 1/2 of the heads"
  std::int32_t operations = 0;  ///< how many it spans; the longest match wins
  MeasuredTime time;
  Bytes memory{};  ///< high-water mark of its own tensors
  friend bool operator==(const MeasuredSegment&, const MeasuredSegment&) = default;
};

/// A transfer or collective between ranks.
struct MeasuredLink {
  std::string operation;  ///< "send", or name_of(OpKind) of a collective
  std::int32_t ranks = 2;
  Bytes bytes{};  ///< of the message
  MeasuredTime time;
  /// Met between a layer's operations, where whoever comes first waits for the others: times last
  /// from a member's own turn on, and `time.median` is their mean (summarize_mean).  Else all
  /// members are there when it begins.
  bool in_layers = false;
  friend bool operator==(const MeasuredLink&, const MeasuredLink&) = default;
};

/// What was measured on one kind of device; where it covers an operation it goes before every
/// model.
struct Profile {
  std::string device;                          ///< canonical device type
  std::int32_t concurrent_ranks = 1;           ///< ranks that were busy at once while measuring
  std::map<std::string, std::string> made_by;  ///< program version, libraries, host, date
  std::vector<MeasuredOperation> operations;   ///< ascending by key
  std::vector<MeasuredSegment> segments;       ///< ascending by key
  std::vector<MeasuredLink> links;             ///< ascending by in_order()
  friend bool operator==(const Profile&, const Profile&) = default;

  [[nodiscard]] const MeasuredOperation* operation(std::string_view key) const;
  [[nodiscard]] const MeasuredSegment* segment(std::string_view key) const;
  /// Interpolated in message size (linear between measured sizes; flagged beyond them).  A
  /// collective in layers that nobody met there takes what it takes alone.
  struct LinkTime {
    Duration time{};
    bool extrapolated = false;
  };
  [[nodiscard]] std::optional<LinkTime> link(std::string_view operation,
                                             std::int32_t ranks,
                                             Bytes bytes,
                                             bool in_layers = false) const;
};

/// Order of Profile::links.
[[nodiscard]] bool in_order(const MeasuredLink& before, const MeasuredLink& behind);

[[nodiscard]] std::string to_json_text(const Profile& profile);
[[nodiscard]] Result<Profile> parse_profile(std::string_view text, std::string_view where);

}  // namespace stagewright
