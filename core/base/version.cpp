#include "core/base/version.h"

namespace stagewright {

std::string_view version() {
  return STAGEWRIGHT_VERSION;
}

}  // namespace stagewright
