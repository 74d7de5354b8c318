#include "tests/support/source_folder.h"

namespace stagewright {

std::filesystem::path source_folder() {
  return STAGEWRIGHT_SOURCE_FOLDER;
}

}  // namespace stagewright
