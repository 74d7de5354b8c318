#include "core/base/mean_time.h"

#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include <fmt/format.h>

namespace stagewright {
namespace {

struct UnitOfMean {
  std::string_view name;
  double seconds;
};

/// From the smallest on.
constexpr std::array kUnits{UnitOfMean{"ps", 1e-12},
                            UnitOfMean{"ns", 1e-9},
                            UnitOfMean{"us", 1e-6},
                            UnitOfMean{"ms", 1e-3},
                            UnitOfMean{"s", 1},
                            UnitOfMean{"min", 60},
                            UnitOfMean{"h", 3600},
                            UnitOfMean{"d", 86400}};
constexpr double kLongest = 1e6 * 365 * 86400;

}  // namespace

Result<MeanTime> parse_mean_time(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, value);
  std::string_view name(rest, static_cast<std::size_t>(end - rest));
  if (name.starts_with(' ')) {
    name.remove_prefix(1);
  }
  for (const UnitOfMean& unit : kUnits) {
    const double seconds = value * unit.seconds;
    if (problem == std::errc{} && name == unit.name && seconds > 0 && seconds <= kLongest) {
      return MeanTime(seconds);
    }
  }
  return fail(ErrorCode::kInvalidInput,
              fmt::format("'{}' is no time above zero with a unit (ps to ms, s, min, h, d); write "
                          "for example 5h or 264d",
                          text));
}

std::string to_string(MeanTime time) {
  const UnitOfMean* chosen = kUnits.data();
  for (const UnitOfMean& unit : kUnits) {
    if (time.count() >= unit.seconds) {
      chosen = &unit;
    }
  }
  return fmt::format("{:.4g} {}", time.count() / chosen->seconds, chosen->name);
}

}  // namespace stagewright
