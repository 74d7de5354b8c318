#include "cli/path_check.h"

namespace stagewright {

std::string path_given(const std::string& path) {
  return path.empty() ? "the name is empty; write the path of a file, or leave the option out"
                      : std::string();
}

std::string value_given(const std::string& value) {
  return value.empty() ? "the value is empty; write one, or leave the option out" : std::string();
}

}  // namespace stagewright
