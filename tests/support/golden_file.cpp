#include "tests/support/golden_file.h"

#include <cstddef>
#include <cstdlib>
#include <sstream>

#include "core/base/file.h"
#include "tests/support/source_folder.h"

namespace stagewright {
namespace {

testing::AssertionResult first_difference(const std::string& expected,
                                          const std::string& actual,
                                          const std::string& path) {
  std::istringstream left(expected);
  std::istringstream right(actual);
  for (std::size_t line = 1;; ++line) {
    std::string wanted;
    std::string got;
    const bool more_wanted = static_cast<bool>(std::getline(left, wanted));
    const bool more_got = static_cast<bool>(std::getline(right, got));
    if (!more_wanted && !more_got) {
      return testing::AssertionFailure() << path << ": only the line ends differ";
    }
    if (wanted != got || more_wanted != more_got) {
      return testing::AssertionFailure()
             << path << ":" << line << "\n  expected: " << (more_wanted ? wanted : "(end)")
             << "\n  actual:   " << (more_got ? got : "(end)")
             << "\n  run with STAGEWRIGHT_UPDATE_GOLDEN=1 to accept";
    }
  }
}

}  // namespace

testing::AssertionResult matches_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = source_folder() / "tests" / "golden" / name;
  if (std::getenv("STAGEWRIGHT_UPDATE_GOLDEN") != nullptr) {
    const Result<void> written =
        make_folders(path.parent_path()).and_then([&] { return write_file(path, text); });
    return written ? testing::AssertionSuccess()
                   : testing::AssertionFailure() << written.error().to_string();
  }
  const Result<std::string> expected = read_file(path);
  if (!expected) {
    return testing::AssertionFailure() << expected.error().to_string();
  }
  return *expected == text ? testing::AssertionSuccess()
                           : first_difference(*expected, text, path.string());
}

}  // namespace stagewright
