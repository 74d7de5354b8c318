#include "core/base/json_reader.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace stagewright {
namespace {

TEST(JsonReader, ReadsUnitsAndNestedObjects) {
  const auto json =
      parse_json(R"({"memory": "80 GiB", "links": [{"bandwidth": "450 GB/s"}]})", "d");
  ASSERT_TRUE(json.has_value());
  JsonReader reader(*json, "d.json");
  EXPECT_EQ(reader.bytes("memory"), 80_GiB);
  std::vector<BytesPerSecond> links;
  reader.objects("links", [&](JsonReader& link) { links.push_back(link.bandwidth("bandwidth")); });
  EXPECT_TRUE(reader.finish().has_value());
  EXPECT_EQ(links, std::vector{450_GBps});
}

TEST(JsonReader, AnUnknownKeyNamesTheNearestKnownOne) {
  const auto json = parse_json(R"({"stage": {"layrs": 3}})", "p");
  JsonReader reader(*json, "p.json");
  reader.object("stage", [](JsonReader& stage) { (void)stage.integer_or("layers", 1); });
  const auto done = reader.finish();
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().to_string(),
            "p.json:/stage/layrs: unknown key 'layrs'; did you mean 'layers'?");
}

TEST(JsonReader, TruncatedTextNamesLineAndColumn) {
  const auto json = parse_json("{\n  \"a\": 1,", "t.json");
  ASSERT_FALSE(json.has_value());
  EXPECT_NE(json.error().to_string().find("t.json: not valid JSON at line 2"), std::string::npos)
      << json.error().to_string();
}

TEST(JsonReader, AZeroByteIsNotTheEndOfTheText) {
  using namespace std::string_literals;
  for (const std::string& text : {"{\"a\": 1}\n\0}"s, "\"a\"\n\0"s, "1\n\0{"s, "\n\0"s}) {
    const auto json = parse_json(text, "t.json");
    ASSERT_FALSE(json);
    EXPECT_NE(json.error().to_string().find(
                  "t.json: not valid JSON at line 2, column 1: a zero byte; is the file complete?"),
              std::string::npos)
        << json.error().to_string();
  }
}

TEST(JsonReader, AWrongTypeShowsTheValue) {
  const auto json = parse_json(R"({"heads": "eight"})", "c");
  JsonReader reader(*json, "c.json");
  (void)reader.positive("heads");
  EXPECT_EQ(reader.finish().error().to_string(),
            "c.json:/heads: expected an integer, found \"eight\"");
}

TEST(JsonReader, ZeroIsNotPositive) {
  const auto json = parse_json(R"({"heads": 0})", "c");
  JsonReader reader(*json, "c.json");
  (void)reader.positive("heads");
  EXPECT_EQ(reader.finish().error().to_string(), "c.json:/heads: is 0; it must be 1 or more");
}

TEST(JsonReader, NumbersThatDoNotFitAreErrorsNotOtherNumbers) {
  const auto json = parse_json(R"({"a": 4294967297, "b": 18446744073709551615})", "c");
  JsonReader count(*json, "c.json");
  (void)count.count("a");
  EXPECT_EQ(count.finish().error().to_string(),
            "c.json:/a: is 4294967297; it must be 2147483647 or less");
  JsonReader integer(*json, "c.json");
  (void)integer.integer("b");
  EXPECT_EQ(integer.finish().error().to_string(),
            "c.json:/b: is 18446744073709551615, too large for a 64-bit integer");
}

TEST(JsonReader, AMessageAboutForeignBytesIsStillText) {
  for (const char* text : {"\xC3\x84\xC3\x96 not json", "{\"a\": \"\xE9\"}"}) {
    const auto read = parse_json(text, "file.json");
    ASSERT_FALSE(read);
    EXPECT_NO_THROW(static_cast<void>(nlohmann::json(read.error().message).dump()));
  }
}

}  // namespace
}  // namespace stagewright
