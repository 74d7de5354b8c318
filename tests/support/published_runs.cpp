#include "tests/support/published_runs.h"

#include <map>
#include <sstream>
#include <string_view>

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "tests/support/source_folder.h"

namespace stagewright {
namespace {

/// What a line gives as its `dataset`.
std::string dataset_of(std::string_view line) {
  constexpr std::string_view kKey = "\"dataset\":\"";
  const auto begin = line.find(kKey);
  if (begin == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = line.substr(begin + kKey.size());
  return std::string(rest.substr(0, rest.find('"')));
}

}  // namespace

std::string published_runs() {
  const auto text = read_file(source_folder() / "tests/data/measured_runs.jsonl");
  EXPECT_TRUE(text) << text.error().to_string();
  return text.value_or("");
}

std::string some_published_runs(int step) {
  std::map<std::string, int> seen;
  std::istringstream all(published_runs());
  std::string some;
  for (std::string line; std::getline(all, line);) {
    if (seen[dataset_of(line)]++ % step == 0) {
      some += line + '\n';
    }
  }
  return some;
}

}  // namespace stagewright
