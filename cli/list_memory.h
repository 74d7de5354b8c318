#pragma once

#include <optional>

#include "core/base/result.h"
#include "core/base/units.h"

namespace stagewright {

/// Memory that this process may take: the machine's, or what its control group allows.  Absent
/// where the system does not say.
[[nodiscard]] std::optional<Bytes> usable_memory();

/// Bytes that an action of a generated list takes at the most, as measured over all schedules
/// (tests/unit/cli/list_memory_test.cpp): order and static pass; with the times of single actions,
/// their trace and its explanation; as text; and as text with sends and receives.
inline constexpr double kSummaryBytes = 64;
inline constexpr double kPictureBytes = 2000;
inline constexpr double kTextBytes = 220;
inline constexpr double kLoweredTextBytes = 500;

/// Fails with kInvalidInput, naming `where`, when a list of about so many actions would not fit
/// into `memory` or has more than an index counts; says how many would fit.
[[nodiscard]] Result<void> check_list_fits(double actions,
                                           double bytes_each,
                                           std::optional<Bytes> memory,
                                           const char* where);

}  // namespace stagewright
