#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stagewright {

/// Why a schedule's list does not work.
enum class ListFaultKind : std::uint8_t {
  kRange,      ///< a stage or micro-batch that the schedule does not have
  kPlacement,  ///< an action on another rank than the one that holds its stage
  kDuplicate,  ///< an action stands twice
  kMissing,    ///< an action stands nowhere
  kOrder,      ///< an action stands behind the one that it is for
  kDeadlock,   ///< actions wait for each other for ever
  kMismatch,   ///< a receive takes a message that is not its own
};

/// "range", "placement", "duplicate", "missing", "order", "deadlock", "mismatch".
[[nodiscard]] std::string_view name_of(ListFaultKind kind);

struct ListFault {
  ListFaultKind kind = ListFaultKind::kRange;
  std::string detail;  ///< rank, place and action
  friend bool operator==(const ListFault&, const ListFault&) = default;

  /// "missing: backward of stage 0 micro-batch 4".
  [[nodiscard]] std::string to_string() const { return std::string(name_of(kind)) + ": " + detail; }
};

}  // namespace stagewright
