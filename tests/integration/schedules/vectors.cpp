#include "tests/integration/schedules/vectors.h"

#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "core/base/check.h"
#include "core/base/file.h"
#include "formats/schedule_vector.h"
#include "tests/support/source_folder.h"

namespace stagewright {
namespace {

std::filesystem::path folder() {
  return source_folder() / "tests/golden/schedules";
}

std::string content(const std::string& file) {
  Result<std::string> text = read_file(folder() / file);
  SW_CHECK(text.has_value(), "a readable vector file");
  return *std::move(text);
}

}  // namespace

std::vector<std::string> vector_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().extension() == ".json" && entry.path().stem() != "golden_times") {
      names.push_back(entry.path().stem());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string vector_test_name(const testing::TestParamInfo<std::string>& vector) {
  std::string name = vector.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

TokenList read_vector(const std::string& name) {
  Result<TokenList> list = parse_schedule_vector(content(name + ".json"), name + ".json");
  SW_CHECK(list.has_value(), "a vector that parses");
  return *std::move(list);
}

const nlohmann::json& golden_times(const std::string& name) {
  static const nlohmann::json all = nlohmann::json::parse(content("golden_times.json"));
  return all.at(name);
}

}  // namespace stagewright
