#include "cli/list_memory.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace stagewright {
namespace {

/// Indices of the static pass have 31 bits, joins included.
constexpr double kMostActions = 5e8;
/// Of the memory, so that the system and other programs have the rest.
constexpr double kShare = 0.9;

std::optional<double> physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long size = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && size > 0
             ? std::optional(static_cast<double>(pages) * static_cast<double>(size))
             : std::nullopt;
}

/// The limit of the control group (version 2); "max" is none.
std::optional<double> group_limit() {
  std::ifstream file("/sys/fs/cgroup/memory.max");
  std::string text;
  std::getline(file, text);
  double limit = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  return error == std::errc{} ? std::optional(limit) : std::nullopt;
}

}  // namespace

std::optional<Bytes> usable_memory() {
  const std::optional<double> memory = physical_memory();
  const std::optional<double> limit = group_limit();
  if (!memory) {
    return std::nullopt;
  }
  return Bytes(static_cast<std::int64_t>(std::min(*memory, limit.value_or(*memory))));
}

Result<void> check_list_fits(double actions,
                             double bytes_each,
                             std::optional<Bytes> memory,
                             const char* where) {
  const double room =
      memory ? kShare * static_cast<double>(memory->count()) / bytes_each : kMostActions;
  if (actions <= std::min(room, kMostActions)) {
    return {};
  }
  constexpr std::string_view kAdvice = "take fewer ranks, micro-batches or virtual stages";
  if (kMostActions <= room) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("a list of about {:.3g} actions is more than the {:.3g} that can be "
                            "counted; {}",
                            actions,
                            kMostActions,
                            kAdvice),
                where);
  }
  return fail(
      ErrorCode::kInvalidInput,
      fmt::format("a list of about {:.3g} actions takes {} here ({:.0f} bytes an action), "
                  "more than the memory of {} allows; up to about {:.2g} actions would fit: "
                  "{}",
                  actions,
                  to_string(Bytes(static_cast<std::int64_t>(std::min(actions * bytes_each, 9e18)))),
                  bytes_each,
                  to_string(*memory),
                  room,
                  kAdvice),
      where);
}

}  // namespace stagewright
