#include "cli/terminal.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include <sys/ioctl.h>

namespace stagewright {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (const std::string_view value = variable(name); !value.empty()) {
      return value.find("UTF-8") != std::string_view::npos ||
             value.find("utf8") != std::string_view::npos;
    }
  }
  return false;
}

int columns_or(int otherwise) {
  const std::string_view wanted = variable("COLUMNS");
  int columns = 0;
  const char* const end = wanted.data() + wanted.size();
  if (const auto [stop, problem] = std::from_chars(wanted.data(), end, columns);
      problem == std::errc{} && stop == end && columns > 0) {
    return columns;
  }
  winsize size{};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the only interface there is
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  return otherwise;
}

}  // namespace

Terminal this_terminal() {
  Terminal terminal;
  terminal.progress = ::isatty(STDERR_FILENO) == 1;
  terminal.colour = ::isatty(STDOUT_FILENO) == 1 && variable("NO_COLOR").empty() &&
                    variable("TERM") != "dumb" && !variable("TERM").empty();
  terminal.unicode = locale_is_utf8();
  terminal.columns = columns_or(terminal.columns);
  return terminal;
}

}  // namespace stagewright
