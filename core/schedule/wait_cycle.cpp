#include "core/schedule/wait_cycle.h"

#include <fmt/format.h>

namespace stagewright {

std::string wait_cycle_text(std::size_t length, const std::function<WaitLink(std::size_t)>& link) {
  SW_CHECK(length > 0, "a cycle of at least one");
  WaitLink at = link(0);
  const std::string first = at.who;
  if (length == 1) {
    return fmt::format("{} {} itself", first, at.how);
  }
  constexpr std::size_t kShownAtEachEnd = 5;
  std::string text = first;
  for (std::size_t i = 1; i < length; ++i) {
    if (i == kShownAtEachEnd && length > 2 * kShownAtEachEnd + 1) {
      const std::size_t skipped = length - 2 * kShownAtEachEnd;
      text += fmt::format(", and so on over {} more to ", skipped);
      i += skipped;
      at = link(i);
      text += at.who;
      continue;
    }
    text += fmt::format("{} {} ", i == 1 ? "" : ", which", at.how);
    at = link(i);
    text += at.who;
  }
  return text + fmt::format(", which {} {}", at.how, first);
}

}  // namespace stagewright
