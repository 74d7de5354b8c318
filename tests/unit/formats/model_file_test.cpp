#include "formats/model_file.h"

#include <map>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"

namespace stagewright {
namespace {

const DataFiles& data() {
  static const DataFiles kFiles = DataFiles::embedded();
  return kFiles;
}

std::int64_t parameters_of(std::string_view name) {
  const auto graph = find_model(data(), name);
  EXPECT_TRUE(graph.has_value()) << graph.error().to_string();
  return graph ? parameter_count(*graph) : 0;
}

std::string error_of(std::string_view text) {
  const auto graph = parse_model_file(text, "m.json");
  return graph ? "" : graph.error().to_string();
}

// Totals as published with the released weights.
TEST(ModelFile, PresetsHaveThePublishedParameterTotals) {
  for (const auto& [name, total] :
       std::map<std::string, std::int64_t>{{"gpt2", 124'439'808},
                                           {"gpt2-medium", 354'823'168},
                                           {"gpt2-large", 774'030'080},
                                           {"gpt2-xl", 1'557'611'200},
                                           {"llama2-7b", 6'738'415'616},
                                           {"llama2-13b", 13'015'864'320},
                                           {"llama2-70b", 68'976'648'192},
                                           {"llama3-8b", 8'030'261'248},
                                           {"llama3-70b", 70'553'706'496},
                                           {"llama3.1-8b", 8'030'261'248},
                                           {"llama3.1-70b", 70'553'706'496},
                                           {"llama3-405b", 405'853'388'800}}) {
    EXPECT_EQ(parameters_of(name), total) << name;
  }
}

// 96 (12 h^2 + 13 h) + (50257 + 2048 + 2) h with h = 12288: the 175 billion of Brown et al. 2020.
TEST(ModelFile, Gpt3Has175BillionParameters) {
  constexpr std::int64_t kHidden = 12288;
  EXPECT_EQ(parameters_of("gpt3-175b"),
            96 * (12 * kHidden * kHidden + 13 * kHidden) + (50257 + 2048 + 2) * kHidden);
  EXPECT_NEAR(static_cast<double>(parameters_of("gpt3-175b")), 175e9, 0.5e9);
}

TEST(ModelFile, EveryPresetReadsIsNamedLikeItsFileAndNoNameIsUsedTwice) {
  std::set<std::string> names;
  for (const std::string& file : data().list("models")) {
    const auto json = nlohmann::json::parse(*data().find(file));
    EXPECT_TRUE(json.contains("source")) << file;
    const auto name = json["name"].get<std::string>();
    EXPECT_EQ("models/" + name + ".json", file);
    EXPECT_TRUE(names.insert(name).second) << name;
    const auto graph = find_model(data(), name);
    ASSERT_TRUE(graph.has_value()) << graph.error().to_string();
    EXPECT_EQ(graph->name, name);
    for (const auto& alias : json["aliases"]) {
      EXPECT_TRUE(names.insert(alias.get<std::string>()).second) << alias;
      EXPECT_EQ(*find_model(data(), alias.get<std::string>()), *graph);
    }
  }
  EXPECT_GE(names.size(), 13U);
}

TEST(ModelFile, AFolderOrFileOfAHuggingFaceModelIsReadByItsPath) {
  const auto folder = source_folder() / "examples" / "models" / "llama-3-70b";
  const auto preset = find_model(data(), "llama3-70b");
  for (const auto& path : {folder, folder / "config.json"}) {
    const auto graph = find_model(data(), path.string());
    ASSERT_TRUE(graph.has_value()) << graph.error().to_string();
    EXPECT_EQ(graph->name, "llama-3-70b");
    EXPECT_EQ(graph->shape, preset->shape);
    EXPECT_EQ(model_hash(*graph), model_hash(*preset));
  }
}

TEST(ModelFile, TheDemoModelsAreSmall) {
  const auto folder = source_folder() / "examples" / "models";
  const auto gpt = find_model(data(), (folder / "gpt-demo.json").string());
  ASSERT_TRUE(gpt.has_value()) << gpt.error().to_string();
  EXPECT_EQ(gpt->layers.size(), 6U);
  EXPECT_LT(parameter_count(*gpt), 1'000'000);
  const auto llama = find_model(data(), (folder / "llama-demo.json").string());
  ASSERT_TRUE(llama.has_value()) << llama.error().to_string();
  EXPECT_EQ(llama->shape.heads / llama->shape.kv_heads, 2);
  EXPECT_LT(parameter_count(*llama), 1'000'000);
}

TEST(ModelFile, TheExampleInTheDocsIsTheDemoModel) {
  const std::string page = *read_file(source_folder() / "docs" / "adding_a_model.md");
  const std::size_t begin = page.find("```json\n") + 8;
  const auto shown = parse_model_file(page.substr(begin, page.find("```", begin) - begin), "d");
  ASSERT_TRUE(shown.has_value()) << shown.error().to_string();
  const auto demo =
      find_model(data(), (source_folder() / "examples/models/gpt-demo.json").string());
  EXPECT_EQ(*shown, *demo);
}

TEST(ModelFile, TheFamilyGivesWhatIsLeftOut) {
  const auto gpt = parse_model_file(
      R"({"name": "g", "family": "gpt2", "layers": 1, "hidden": 8, "heads": 2, "vocabulary": 10,
          "max_sequence": 4})",
      "m.json");
  ASSERT_TRUE(gpt.has_value()) << gpt.error().to_string();
  TransformerShape expected;
  expected.layers = 1;
  expected.hidden = 8;
  expected.heads = expected.kv_heads = 2;
  expected.head_dim = 4;
  expected.feed_forward = 32;
  expected.vocabulary = 10;
  expected.max_sequence = 4;
  EXPECT_EQ(gpt->shape, expected);

  const auto llama = parse_model_file(
      R"({"name": "l", "family": "llama", "layers": 1, "hidden": 8, "heads": 2, "vocabulary": 10,
          "max_sequence": 4, "feed_forward": 24, "tied_embeddings": true, "norm": "layer-norm"})",
      "m.json");
  ASSERT_TRUE(llama.has_value()) << llama.error().to_string();
  expected.feed_forward = 24;
  expected.activation = OpVariant::kSwiGlu;
  expected.learned_positions = false;
  expected.biases = expected.qkv_bias = false;
  EXPECT_EQ(llama->shape, expected);
}

TEST(ModelFile, WhatIsWrongIsNamedWithItsPlace) {
  EXPECT_EQ(error_of(R"({"name": "g", "family": "bert"})"),
            "m.json:/family: 'bert' is not known; known: gpt2, llama, convnet");
  EXPECT_EQ(error_of(R"({"name": "g", "family": "gpt2", "layer": 1, "hidden": 8})"),
            "m.json:/layers: is required but absent; add it (or is 'layer' a slip for it?)");
  EXPECT_EQ(error_of(R"({"name": "g", "family": "gpt2", "layers": 1, "hidden": 8, "heads": 3,
                         "vocabulary": 10, "max_sequence": 4})"),
            "m.json:/heads: is 3, which does not divide hidden 8; correct one of them or add "
            "'head_dim'");
  EXPECT_EQ(error_of(R"({"name": "g", "family": "gpt2", "layers": 1, "hidden": 8, "heads": 2,
                         "vocabulary": 10, "max_sequence": 4, "kv_heads": 0})"),
            "m.json:/kv_heads: is 0; it must be 1 or more");
}

TEST(ModelFile, ANameThatMatchesNothingHasASuggestion) {
  EXPECT_EQ(find_model(data(), "llama3-70").error().to_string(),
            "'llama3-70' is neither a known model nor the path of a config.json; did you mean "
            "'llama3-70b'?");
  const TemporaryFolder folder;
  EXPECT_EQ(find_model(data(), (folder.path() / "none.json").string()).error().code,
            ErrorCode::kNotFound);
  EXPECT_EQ(find_model(data(), folder.path().string()).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace stagewright
