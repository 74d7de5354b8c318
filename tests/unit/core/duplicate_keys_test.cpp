#include "core/base/duplicate_keys.h"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_reader.h"

namespace stagewright {
namespace {

std::string error_of(const std::string& text) {
  const auto json = parse_json(text, "x.json");
  return json ? "no error" : json.error().to_string();
}

TEST(DuplicateKeys, AreToldWithTheirPlace) {
  EXPECT_EQ(error_of(R"({"P": 1, "M": 2, "P": 1})"),
            "x.json:/P: the key 'P' stands twice in one object; keep one of them");
  EXPECT_EQ(error_of(R"({"a": [1, [], {"b": {"c": 1, "d": [], "c": {}}}]})"),
            "x.json:/a/2/b/c: the key 'c' stands twice in one object; keep one of them");
  // However it is written.
  EXPECT_EQ(error_of(R"({"\u0061\"": "}{,\\", "b": [","], "a\"": 2})"),
            "x.json:/a\": the key 'a\"' stands twice in one object; keep one of them");
  std::string many;
  for (int i = 0; i < 20; ++i) {
    many += "\"k" + std::to_string(i % 19) + "\": 1, ";
  }
  EXPECT_EQ(error_of("{" + many + "\"z\": 1}"),
            "x.json:/k0: the key 'k0' stands twice in one object; keep one of them");
  EXPECT_EQ(error_of(R"([{"": 1}, {"x": 1}, {"": 1, "": 2}])"),
            "x.json:/2/: the key '' stands twice in one object; keep one of them");
}

TEST(DuplicateKeys, OfSeveralObjectsAreNone) {
  EXPECT_EQ(error_of(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}], "c": {"a": {"b": 1}}})"),
            "no error");
  const std::string text = R"({"a": [1, {"b": null}, [true, "x"]], "c": -2.5})";
  EXPECT_EQ(parse_json(text, "x.json").value(), nlohmann::json::parse(text));
}

}  // namespace
}  // namespace stagewright
