#pragma once

#include <string_view>

namespace stagewright {

/// Prints the place and the expectation to stderr and aborts.
[[noreturn]] void check_failed(const char* file,
                               int line,
                               const char* condition,
                               std::string_view expected);

}  // namespace stagewright

/// Ends the process when our own code broke a promise.  Always on.  Never
/// reachable from user input: that is what Result is for.
#define SW_CHECK(condition, expected)                                          \
  do {                                                                         \
    if (!(condition)) [[unlikely]] {                                           \
      ::stagewright::check_failed(__FILE__, __LINE__, #condition, (expected)); \
    }                                                                          \
  } while (false)
