#include "tests/support/temporary_folder.h"

#include <cstdlib>
#include <string>
#include <system_error>

#include "core/base/check.h"

namespace stagewright {

TemporaryFolder::TemporaryFolder() {
  std::string name = std::filesystem::temp_directory_path() / "stagewright_test_XXXXXX";
  SW_CHECK(::mkdtemp(name.data()) != nullptr, "a temporary folder that can be written");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace stagewright
