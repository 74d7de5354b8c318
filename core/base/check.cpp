#include "core/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace stagewright {

void check_failed(const char* file, int line, const char* condition, std::string_view expected) {
  std::fprintf(stderr,
               "%s:%d: internal error: %s is false; expected %.*s\n"
               "This is a defect of stagewright, not of your input; please report it.\n",
               file,
               line,
               condition,
               static_cast<int>(expected.size()),
               expected.data());
  std::abort();
}

}  // namespace stagewright
