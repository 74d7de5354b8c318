#include "formats/hf_sizes.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "formats/hf_config.h"
#include "tests/support/case_files.h"

namespace stagewright {
namespace {

using nlohmann::json;

std::int64_t total_of(const char* config) {
  const auto sizes = parse_hf_sizes(config, "config.json", "m");
  EXPECT_TRUE(sizes.has_value()) << sizes.error().to_string();
  return sizes ? parameter_counts(*sizes).total : 0;
}

std::string error_of(const char* config) {
  const auto sizes = parse_hf_sizes(config, "config.json", "m");
  return sizes ? "" : sizes.error().to_string();
}

struct Published {
  const char* name;
  std::int64_t total;  ///< of the released checkpoint
  const char* config;
};

class HfSizes : public testing::TestWithParam<Published> {};

TEST_P(HfSizes, CountEveryParameterOfTheReleasedModel) {
  EXPECT_EQ(total_of(GetParam().config), GetParam().total);
}

INSTANTIATE_TEST_SUITE_P(
    Released,
    HfSizes,
    testing::Values(
        Published{"gpt_j_6b", 6'050'882'784, R"({"model_type": "gptj", "n_embd": 4096, "n_head": 16,
          "n_layer": 28, "n_inner": null, "n_positions": 2048, "vocab_size": 50400,
          "tie_word_embeddings": false})"},
        Published{"gpt_neox_20b", 20'554'567'680, R"({"architectures": ["GPTNeoXForCausalLM"],
          "hidden_size": 6144, "intermediate_size": 24576, "num_attention_heads": 64,
          "num_hidden_layers": 44, "vocab_size": 50432})"},
        Published{"falcon_7b", 6'921'720'704, R"({"model_type": "falcon", "hidden_size": 4544,
          "num_attention_heads": 71, "num_hidden_layers": 32, "vocab_size": 65024, "bias": false,
          "multi_query": true, "new_decoder_architecture": false, "parallel_attn": true})"},
        Published{"falcon_40b", 41'303'293'952, R"({"model_type": "falcon", "hidden_size": 8192,
          "num_attention_heads": 128, "num_kv_heads": 8, "num_hidden_layers": 60,
          "vocab_size": 65024, "bias": false, "new_decoder_architecture": true})"},
        Published{"phi_2", 2'779'683'840, R"({"model_type": "phi", "hidden_size": 2560,
          "intermediate_size": 10240, "num_attention_heads": 32, "num_hidden_layers": 32,
          "num_key_value_heads": 32, "vocab_size": 51200, "tie_word_embeddings": false})"},
        Published{"opt_350m", 331'196'416, R"({"model_type": "opt", "hidden_size": 1024,
          "ffn_dim": 4096, "num_attention_heads": 16, "num_hidden_layers": 24,
          "do_layer_norm_before": false, "max_position_embeddings": 2048, "vocab_size": 50272,
          "word_embed_proj_dim": 512})"},
        Published{"bert_large", 335'141'888, R"({"model_type": "bert",
          "architectures": ["BertModel"], "hidden_size": 1024, "intermediate_size": 4096,
          "max_position_embeddings": 512, "num_attention_heads": 16, "num_hidden_layers": 24,
          "type_vocab_size": 2, "vocab_size": 30522})"},
        Published{"t5_v1_1_base", 247'577'856, R"({"model_type": "t5", "d_ff": 2048, "d_kv": 64,
          "d_model": 768, "feed_forward_proj": "gated-gelu", "num_decoder_layers": 12,
          "num_heads": 12, "num_layers": 12, "relative_attention_num_buckets": 32,
          "tie_word_embeddings": false, "vocab_size": 32128})"},
        Published{"deepseek_v2_lite", 15'706'484'224, R"({"model_type": "deepseek_v2",
          "first_k_dense_replace": 1, "hidden_size": 2048, "intermediate_size": 10944,
          "kv_lora_rank": 512, "moe_intermediate_size": 1408, "moe_layer_freq": 1,
          "n_routed_experts": 64, "n_shared_experts": 2, "num_attention_heads": 16,
          "num_experts_per_tok": 6, "num_hidden_layers": 27, "num_key_value_heads": 16,
          "q_lora_rank": null, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
          "tie_word_embeddings": false, "v_head_dim": 128, "vocab_size": 102400})"},
        Published{"qwen1_5_moe_a2_7b", 14'315'784'192, R"({"model_type": "qwen2_moe",
          "decoder_sparse_step": 1, "hidden_size": 2048, "intermediate_size": 5632,
          "moe_intermediate_size": 1408, "num_attention_heads": 16, "num_experts": 60,
          "num_experts_per_tok": 4, "num_hidden_layers": 24, "num_key_value_heads": 16,
          "shared_expert_intermediate_size": 5632, "tie_word_embeddings": false,
          "vocab_size": 151936})"},
        Published{"qwen3_30b_a3b", 30'532'122'624, R"({"model_type": "qwen3_moe",
          "decoder_sparse_step": 1, "head_dim": 128, "hidden_size": 2048,
          "intermediate_size": 6144, "mlp_only_layers": [], "moe_intermediate_size": 768,
          "num_attention_heads": 32, "num_experts": 128, "num_experts_per_tok": 8,
          "num_hidden_layers": 48, "num_key_value_heads": 4, "tie_word_embeddings": false,
          "vocab_size": 151936})"},
        Published{"qwen_7b", 7'721'324'544, R"({"model_type": "qwen", "hidden_size": 4096,
          "intermediate_size": 22016, "kv_channels": 128, "num_attention_heads": 32,
          "num_hidden_layers": 32, "vocab_size": 151936})"},
        Published{"mpt_7b", 6'649'286'656, R"({"model_type": "mpt", "d_model": 4096,
          "expansion_ratio": 4, "n_heads": 32, "n_layers": 32, "max_seq_len": 2048,
          "no_bias": true, "vocab_size": 50432})"},
        Published{"bloom_176b", 176'247'271'424, R"({"architectures": ["BloomForCausalLM"],
          "hidden_size": 14336, "n_head": 112, "n_layer": 70, "vocab_size": 250880})"}),
    [](const auto& model) { return std::string(model.param.name); });

// EleutherAI/cookbook issue 36: Qwen1.5-72B is 72.3 billion because a gated MLP has three matrices.
TEST(HfSizesOfAGatedMlp, CountThreeMatrices) {
  const std::int64_t total = total_of(R"({"model_type": "qwen2", "hidden_size": 8192,
    "intermediate_size": 24576, "num_attention_heads": 64, "num_hidden_layers": 80,
    "num_key_value_heads": 64, "vocab_size": 152064, "tie_word_embeddings": false})");
  EXPECT_NEAR(static_cast<double>(total) / 1e9, 72.29, 0.05);
}

TEST(HfSizesOfExperts, CountWhatATokenVisits) {
  const auto sizes = parse_hf_sizes(
      R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336,
      "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
      "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32000})",
      "config.json",
      "m");
  ASSERT_TRUE(sizes.has_value()) << sizes.error().to_string();
  const SizeCounts counts = parameter_counts(*sizes);
  EXPECT_EQ(counts.total, 46'702'792'704);
  EXPECT_NEAR(static_cast<double>(counts.active) / 1e9, 12.9, 0.05);
  EXPECT_EQ(counts.total,
            counts.embedding + counts.attention + counts.mlp + counts.experts + counts.routers +
                counts.norms + counts.head);
}

TEST(HfSizesErrors, NameTheFamilyAndThePlace) {
  EXPECT_NE(error_of(R"({"model_type": "mamba"})").find("'mamba' is not known"), std::string::npos);
  EXPECT_NE(error_of(R"({"model_type": "mamba"})").find("deepseek_v3"), std::string::npos);
  EXPECT_NE(error_of(R"({"hidden_size": 8})").find("model_type"), std::string::npos);
  EXPECT_NE(error_of(R"({"model_type": "llama", "hidden_size": 8196, "num_attention_heads": 64,
    "num_hidden_layers": 2, "intermediate_size": 8, "vocab_size": 8})")
                .find("does not divide"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": -1})")
                .find("hidden_size"),
            std::string::npos);
  EXPECT_NE(error_of(R"([1, 2])"), "");
}

TEST(HfSizesOfRealFiles, MeetTheKnownTotals) {
  const auto files = case_files();
  if (!files) {
    GTEST_SKIP() << "no folder with real configurations; set STAGEWRIGHT_CASE_FILES";
  }
  const auto text = read_file(files->parent_path() / "expected_params.json");
  if (!text) {
    GTEST_SKIP() << text.error().to_string();
  }
  int compared = 0;
  const json expected = json::parse(*text);
  for (const auto& row : expected["rows"]) {
    const auto path = *files / row["file"].get<std::string>();
    const auto config = read_file(path);
    ASSERT_TRUE(config.has_value()) << path;
    const auto sizes = parse_hf_sizes(*config, path.filename().string(), "m");
    ASSERT_TRUE(sizes.has_value()) << sizes.error().to_string();
    EXPECT_EQ(parameter_counts(*sizes).total, row["params"].get<std::int64_t>()) << path.filename();
    ++compared;
  }
  EXPECT_GE(compared, 27);
}

// Both readers of a family that can be run count alike.
TEST(HfSizesOfRealFiles, AgreeWithTheModelsThatCanBeRun) {
  const auto files = case_files();
  if (!files) {
    GTEST_SKIP() << "no folder with real configurations; set STAGEWRIGHT_CASE_FILES";
  }
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*files / "hf_config")) {
    const std::string name = entry.path().filename().string();
    const auto config = read_file(entry.path());
    const auto graph = parse_hf_config(*config, name, "m");
    const auto sizes = parse_hf_sizes(*config, name, "m");
    if (!sizes) {
      EXPECT_FALSE(graph.has_value()) << name;
      EXPECT_FALSE(sizes.error().message.empty()) << name;
      continue;
    }
    if (graph) {
      EXPECT_EQ(parameter_counts(*sizes).total, parameter_count(*graph)) << name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 20);
}

}  // namespace
}  // namespace stagewright
