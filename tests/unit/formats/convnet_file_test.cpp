#include <string>

#include <gtest/gtest.h>

#include "formats/model_file.h"

namespace stagewright {
namespace {

// The published totals: 138 million (Simonyan and Zisserman 2015, table 2) and what torchvision's
// models count.
TEST(ConvNetFileTest, PresetsHaveTheKnownParameters) {
  const DataFiles files = DataFiles::embedded();
  EXPECT_EQ(parameter_count(find_model(files, "vgg16").value()), 138'357'544);
  EXPECT_EQ(parameter_count(find_model(files, "alexnet").value()), 61'100'840);
}

// Multiply-adds of an image: 15.47e9 and 0.714e9.
TEST(ConvNetFileTest, PresetsHaveTheKnownWork) {
  const DataFiles files = DataFiles::embedded();
  const auto products = [&](const char* name) {
    return model_flops(find_model(files, name).value(), 1, 1).count() / 6;
  };
  EXPECT_NEAR(products("vgg16"), 15.47e9, 0.01e9);
  EXPECT_NEAR(products("alexnet"), 0.714e9, 0.001e9);
}

std::string complaint(const std::string& layers, const std::string& more = "") {
  const auto model = parse_model_file(
      R"({"name": "net", "family": "convnet", "image": {"height": 8}, "classes": 4, "layers": [)" +
          layers + "]" + more + "}",
      "net.json");
  return model ? "read" : model.error().to_string();
}

TEST(ConvNetFileTest, ErrorsNameTheKey) {
  EXPECT_EQ(complaint(R"({"channels": 4})"), "read");
  const std::string norm = complaint(R"({"channels": 4, "norm": "batch"})");
  EXPECT_NE(norm.find("/layers/0/norm"), std::string::npos) << norm;
  EXPECT_NE(norm.find("statistics of a batch norm belong to all replicas"), std::string::npos);
  const std::string groups = complaint(R"({"channels": 4, "groups": 2})");
  EXPECT_NE(groups.find("groups"), std::string::npos) << groups;
  const std::string pool = complaint(R"({"channels": 4, "pool": {"kind": "median"}})");
  EXPECT_NE(pool.find("/layers/0/pool/kind"), std::string::npos) << pool;
  const std::string hidden = complaint(R"({"channels": 4})", R"(, "hidden": 8)");
  EXPECT_NE(hidden.find("hidden"), std::string::npos) << hidden;
}

TEST(ConvNetFileTest, HasNoSizesOfATransformer) {
  const auto sizes = find_model_sizes(DataFiles::embedded(), "vgg16");
  ASSERT_FALSE(sizes);
  EXPECT_EQ(sizes.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace stagewright
