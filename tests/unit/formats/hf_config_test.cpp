#include "formats/hf_config.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "tests/support/case_files.h"

namespace stagewright {
namespace {

using nlohmann::json;

json llama() {
  return json::parse(R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
    "hidden_size": 512, "intermediate_size": 1376, "num_hidden_layers": 4, "vocab_size": 1000,
    "num_attention_heads": 8, "num_key_value_heads": 2, "max_position_embeddings": 2048,
    "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "tie_word_embeddings": false})");
}

json gpt2() {
  return json::parse(R"({"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_embd": 64,
    "n_head": 4, "n_layer": 3, "n_inner": null, "n_positions": 128, "vocab_size": 257})");
}

TransformerShape llama_shape() {
  TransformerShape shape;
  shape.layers = 4;
  shape.hidden = 512;
  shape.heads = 8;
  shape.kv_heads = 2;
  shape.head_dim = 64;
  shape.feed_forward = 1376;
  shape.vocabulary = 1000;
  shape.max_sequence = 2048;
  shape.norm = OpVariant::kRmsNorm;
  shape.activation = OpVariant::kSwiGlu;
  shape.learned_positions = false;
  shape.rope_theta = 500000.0;
  shape.norm_epsilon = 1e-5;
  shape.biases = false;
  shape.qkv_bias = false;
  shape.tied_embeddings = false;
  return shape;
}

/// The shape that a configuration gives; fails the test where it is not read.
TransformerShape shape_of(const json& config) {
  const auto graph = parse_hf_config(config.dump(), "config.json", "m");
  EXPECT_TRUE(graph.has_value()) << graph.error().to_string();
  return graph ? graph->shape : TransformerShape{};
}

std::string error_of(const json& config) {
  const auto graph = parse_hf_config(config.dump(), "config.json", "m");
  return graph ? "" : graph.error().to_string();
}

json with(json config, const std::string& key, const json& value) {
  config[key] = value;
  return config;
}

json without(json config, const std::string& key) {
  config.erase(key);
  return config;
}

TEST(HfConfig, ReadsLlama) {
  const auto graph = parse_hf_config(llama().dump(), "config.json", "mine");
  ASSERT_TRUE(graph.has_value()) << graph.error().to_string();
  EXPECT_EQ(graph->name, "mine");
  EXPECT_EQ(graph->family, "llama");
  EXPECT_EQ(graph->shape, llama_shape());
}

TEST(HfConfig, ReadsGpt2) {
  TransformerShape expected;
  expected.layers = 3;
  expected.hidden = 64;
  expected.heads = expected.kv_heads = 4;
  expected.head_dim = 16;
  expected.feed_forward = 256;
  expected.vocabulary = 257;
  expected.max_sequence = 128;
  EXPECT_EQ(shape_of(gpt2()), expected);
}

TEST(HfConfig, ReadsQwen2WithItsBiasOfTheInputProjectionAlone) {
  json config = with(llama(), "model_type", "qwen2");
  config["architectures"] = {"Qwen2ForCausalLM"};
  TransformerShape expected = llama_shape();
  expected.qkv_bias = true;
  EXPECT_EQ(shape_of(config), expected);
}

TEST(HfConfig, MistralIsExactInsideItsWindow) {
  json config = with(llama(), "model_type", "mistral");
  config["architectures"] = {"MistralForCausalLM"};
  EXPECT_EQ(shape_of(with(config, "sliding_window", nullptr)), llama_shape());
  EXPECT_EQ(shape_of(with(config, "sliding_window", 512)).max_sequence, 512);
  EXPECT_EQ(shape_of(without(config, "num_key_value_heads")).kv_heads, 8);
}

TEST(HfConfig, MissingKeysHaveTheDefaultsOfTheirFamily) {
  EXPECT_EQ(shape_of(without(llama(), "num_key_value_heads")).kv_heads, 8);
  EXPECT_EQ(shape_of(with(llama(), "num_key_value_heads", nullptr)).kv_heads, 8);
  EXPECT_FALSE(shape_of(without(llama(), "tie_word_embeddings")).tied_embeddings);
  EXPECT_TRUE(shape_of(gpt2()).tied_embeddings);
  EXPECT_FALSE(shape_of(with(gpt2(), "tie_word_embeddings", false)).tied_embeddings);
  EXPECT_EQ(shape_of(without(llama(), "rope_theta")).rope_theta, 10000.0);
  EXPECT_EQ(shape_of(without(llama(), "rms_norm_eps")).norm_epsilon, 1e-6);
  EXPECT_EQ(shape_of(without(llama(), "model_type")), llama_shape());
  EXPECT_EQ(shape_of(without(llama(), "architectures")), llama_shape());
}

TEST(HfConfig, WhatDoesNotChangeTheLayersIsPassedOver) {
  json config = llama();
  config["torch_dtype"] = "bfloat16";
  config["rope_scaling"] = {{"rope_type", "llama3"}, {"factor", 8.0}};
  config["quantization_config"] = {{"bits", 4}};
  config["auto_map"] = {{"AutoModel", "modeling.Model"}};
  config["eos_token_id"] = {1, 2};
  config["pad_token_id"] = nullptr;
  config["text_config"] = {{"hidden_size", 1}};
  config["hidden_size"] = 512.0;
  EXPECT_EQ(shape_of(config), llama_shape());
}

TEST(HfConfig, HeadsMayBeWiderThanTheModel) {
  EXPECT_EQ(shape_of(with(llama(), "head_dim", 128)).head_dim, 128);
  EXPECT_EQ(
      error_of(with(llama(), "hidden_size", 516)),
      "config.json:/num_attention_heads: is 8, which does not divide hidden_size 516; correct "
      "one of them or add 'head_dim'");
  EXPECT_EQ(shape_of(with(with(llama(), "hidden_size", 516), "head_dim", 64)).hidden, 516);
  EXPECT_EQ(error_of(with(llama(), "num_key_value_heads", 3)),
            "config.json:/num_key_value_heads: is 3, which does not divide num_attention_heads 8");
  EXPECT_EQ(error_of(with(gpt2(), "n_head", 5)),
            "config.json:/n_head: is 5, which does not divide the hidden size 64; correct one of "
            "them");
}

TEST(HfConfig, UnknownArchitecturesAreNamedWithTheSupportedOnes) {
  const std::string supported =
      "supported are LlamaForCausalLM, MistralForCausalLM, Qwen2ForCausalLM, GPT2LMHeadModel";
  json config = with(llama(), "architectures", {"MixtralForCausalLM"});
  config["model_type"] = "mixtral";
  EXPECT_EQ(error_of(config),
            "config.json:/architectures: architecture 'MixtralForCausalLM' is not supported; " +
                supported);
  EXPECT_EQ(parse_hf_config(config.dump(), "c", "m").error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(error_of(without(config, "architectures")),
            "config.json:/model_type: architecture 'mixtral' is not supported; " + supported);
  EXPECT_EQ(error_of(with(llama(), "model_type", "llava")),
            "config.json:/model_type: architecture 'llava' is not supported; " + supported);
  EXPECT_EQ(error_of(without(without(llama(), "architectures"), "model_type")),
            "config.json:/model_type: is absent, and so is 'architectures': the file does not say "
            "what model it describes; add for example \"model_type\": \"llama\"");
}

TEST(HfConfig, VariantsOfAFamilyThatOurLayersAreNotAreUnsupported) {
  EXPECT_EQ(error_of(with(llama(), "attention_bias", true)),
            "config.json:/attention_bias: biases in attention or MLP alone are not supported");
  EXPECT_TRUE(shape_of(with(with(llama(), "attention_bias", true), "mlp_bias", true)).biases);
  EXPECT_EQ(error_of(with(llama(), "num_local_experts", 8)),
            "config.json:/num_local_experts: mixture-of-experts layers are not supported");
  EXPECT_EQ(error_of(with(llama(), "is_causal", false)),
            "config.json:/is_causal: is false; only causal attention is supported");
  EXPECT_EQ(error_of(with(llama(), "hidden_act", "gelu")),
            "config.json:/hidden_act: 'gelu' is not supported in a gated MLP; supported is silu");
  EXPECT_EQ(error_of(with(gpt2(), "add_cross_attention", true)),
            "config.json:/add_cross_attention: is true; only decoders are supported");
  EXPECT_EQ(error_of(with(gpt2(), "activation_function", "tanh")),
            "config.json:/activation_function: 'tanh' is not supported; supported are gelu_new, "
            "gelu, gelu_fast, gelu_pytorch_tanh and relu");
}

TEST(HfConfig, ImpossibleSizesAreNamed) {
  for (const char* key : {"hidden_size",
                          "intermediate_size",
                          "num_hidden_layers",
                          "num_attention_heads",
                          "num_key_value_heads",
                          "vocab_size",
                          "max_position_embeddings"}) {
    const std::string place = std::string("config.json:/") + key;
    EXPECT_EQ(error_of(with(llama(), key, 0)), place + ": is 0; it must be 1 or more");
    EXPECT_EQ(error_of(with(llama(), key, -8)), place + ": is -8; it must be 1 or more");
    EXPECT_EQ(error_of(with(llama(), key, "8")), place + ": expected an integer, found \"8\"");
    EXPECT_NE(error_of(with(llama(), key, 9'000'000'000'000'000'000)), "") << key;
  }
  EXPECT_EQ(error_of(without(llama(), "hidden_size")),
            "config.json:/hidden_size: is required but absent; add it");
  EXPECT_EQ(error_of(with(llama(), "num_hidden_layers", 2'000'000'000)),
            "config.json: 'layers' is 2000000000, more than the 100000 that are supported");
  EXPECT_NE(error_of(with(llama(), "hidden_size", 1'000'000'000))
                .find("more than the 1e+15 that are supported"),
            std::string::npos);
}

TEST(HfConfig, TruncatedAtAnyPlaceIsAnError) {
  const std::string text = llama().dump(1);
  for (std::size_t length = 0; length < text.size(); ++length) {
    const auto graph = parse_hf_config(text.substr(0, length), "config.json", "m");
    ASSERT_FALSE(graph.has_value()) << length;
    EXPECT_NE(graph.error().message.find("not valid JSON"), std::string::npos) << length;
  }
}

TEST(HfConfig, OtherJsonIsAnError) {
  EXPECT_NE(error_of(json::array({1, 2})).find("expected an object"), std::string::npos);
  EXPECT_NE(error_of(json(3)).find("expected an object"), std::string::npos);
  EXPECT_NE(error_of(with(llama(), "architectures", 5)).find("expected a list of strings"),
            std::string::npos);
}

/// Parameter totals by file name, as expected_params.json of the cases has them.
std::map<std::string, std::int64_t> expected_totals(const std::filesystem::path& files) {
  std::map<std::string, std::int64_t> totals;
  const auto text = read_file(files.parent_path() / "expected_params.json");
  if (text) {
    const json all = json::parse(*text);
    for (const json& row : all["rows"]) {
      totals[row["file"].get<std::string>()] = row["params"].get<std::int64_t>();
    }
  }
  return totals;
}

TEST(HfConfigCases, EveryRealFileIsReadOrRefusedWithAReason) {
  const auto files = case_files();
  if (!files) {
    GTEST_SKIP() << "no folder with real configurations; set STAGEWRIGHT_CASE_FILES";
  }
  const auto totals = expected_totals(*files);
  int read = 0;
  int refused = 0;
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*files / "hf_config")) {
    const std::string name = entry.path().filename().string();
    const auto graph = parse_hf_config(*read_file(entry.path()), name, "m");
    if (!graph) {
      ++refused;
      const bool template_file = name.find("TEMPLATE") != std::string::npos;
      EXPECT_TRUE(template_file || graph.error().code == ErrorCode::kUnsupported ||
                  graph.error().message.find("does not say what model") != std::string::npos)
          << graph.error().to_string();
      continue;
    }
    ++read;
    EXPECT_GT(parameter_count(*graph), 0) << name;
    if (const auto total = totals.find("hf_config/" + name); total != totals.end()) {
      ++compared;
      EXPECT_EQ(parameter_count(*graph), total->second) << name;
    }
  }
  EXPECT_GE(read, 25);
  EXPECT_GE(refused, 50);
  EXPECT_GE(compared, 16);
}

// Some 3000 trimmed configurations in one file; every fourth, for time.
TEST(HfConfigCases, ConfigurationsOfTheBulkFileAreReadOrRefused) {
  const auto files = case_files();
  if (!files) {
    GTEST_SKIP() << "no folder with real configurations; set STAGEWRIGHT_CASE_FILES";
  }
  const auto text = read_file(*files / "hf_config_bulk" / "gpu_poor_all_configs.json");
  if (!text) {
    GTEST_SKIP() << text.error().to_string();
  }
  int read = 0;
  const json all = json::parse(*text);
  std::size_t index = 0;
  for (const auto& [name, config] : all.items()) {
    if (index++ % 4 != 0) {
      continue;
    }
    const auto graph = parse_hf_config(config.dump(), name, "m");
    if (graph) {
      ++read;
      EXPECT_GT(parameter_count(*graph), 0) << name;
    } else {
      EXPECT_FALSE(graph.error().message.empty()) << name;
    }
  }
  EXPECT_GE(read, 300);
}

}  // namespace
}  // namespace stagewright
