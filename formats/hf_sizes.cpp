#include "formats/hf_sizes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/json_reader.h"
#include "formats/hf_families.h"

namespace stagewright {
namespace {

using Keys = std::initializer_list<std::string_view>;

// Sizes above this are slips of the keyboard; products of three of them stay inside 64 bits.
constexpr std::int64_t kLargestSize = 10'000'000;

/// The first of the keys that is there, to read and to name in messages.
std::string_view present(JsonReader& reader, Keys keys) {
  for (const std::string_view key : keys) {
    if (reader.has(key)) {
      return key;
    }
  }
  return *keys.begin();
}

std::int64_t size(JsonReader& reader, Keys keys) {
  const std::string_view key = present(reader, keys);
  const std::int64_t value = reader.positive(key);
  if (value > kLargestSize) {
    reader.reject(key, fmt::format("is {}, more than {}", value, kLargestSize));
    return 1;
  }
  return reader.failed() ? 1 : value;
}

std::int64_t size_or(JsonReader& reader, Keys keys, std::int64_t fallback) {
  return reader.has(present(reader, keys)) ? size(reader, keys) : fallback;
}

Result<HfFamily> family_of(JsonReader& reader) {
  const std::string type = reader.text_or("model_type", "");
  const std::vector<std::string> architectures = reader.texts("architectures");
  if (reader.failed()) {
    return pass_on(reader.finish());
  }
  const std::string architecture = architectures.empty() ? "" : architectures.front();
  const HfFamily* by_type = type.empty() ? nullptr : hf_family_of_type(type);
  const HfFamily* by_architecture =
      architecture.empty() ? nullptr : hf_family_of_architecture(architecture);
  const HfFamily* const found = by_type != nullptr ? by_type : by_architecture;
  if (type.empty() && architecture.empty()) {
    return fail(ErrorCode::kUnsupported,
                "is absent, and so is 'architectures': the file does not say what model it "
                "describes; add for example \"model_type\": \"llama\"",
                reader.where("model_type"));
  }
  if (found == nullptr || (!type.empty() && by_type == nullptr)) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("family '{}' is not known; known are {}",
                            type.empty() ? architecture : type,
                            fmt::join(hf_families(), ", ")),
                reader.where(type.empty() ? "architectures" : "model_type"));
  }
  return *found;
}

void read_heads(JsonReader& reader, const HfFamily& family, ModelSizes& sizes) {
  const std::string_view heads =
      present(reader, {"num_attention_heads", "n_head", "num_heads", "n_heads"});
  sizes.heads = size(reader, {heads});
  std::int64_t usual = sizes.heads;
  if (family.one_kv_head && reader.boolean_or("multi_query", true) &&
      !reader.boolean_or("new_decoder_architecture", false)) {
    usual = 1;
  } else if (family.kv_heads > 0 && sizes.heads % family.kv_heads == 0) {
    usual = family.kv_heads;
  }
  sizes.kv_heads =
      usual == 1 ? 1 : size_or(reader, {"num_key_value_heads", "num_kv_heads", "n_head_kv"}, usual);
  if (reader.has("head_dim") || reader.has("d_kv") || reader.has("kv_channels")) {
    sizes.head_dim = size(reader, {"head_dim", "d_kv", "kv_channels"});
  } else if (family.head_dim > 0) {
    sizes.head_dim = family.head_dim;
  } else if (!reader.failed() && sizes.hidden % sizes.heads != 0) {
    reader.reject(heads,
                  fmt::format("is {}, which does not divide the hidden size {}; correct one of "
                              "them or add 'head_dim'",
                              sizes.heads,
                              sizes.hidden));
  } else {
    sizes.head_dim = sizes.hidden / std::max<std::int64_t>(sizes.heads, 1);
  }
  if (!reader.failed() && sizes.heads % sizes.kv_heads != 0) {
    reader.reject(
        "num_key_value_heads",
        fmt::format("is {}, which does not divide the {} heads", sizes.kv_heads, sizes.heads));
  }
}

void read_latent(JsonReader& reader, ModelSizes& sizes) {
  LatentSizes latent;
  if (reader.has("q_lora_rank")) {
    latent.query_rank = size(reader, {"q_lora_rank"});
  }
  latent.key_value_rank = size(reader, {"kv_lora_rank"});
  latent.rope_dim = size(reader, {"qk_rope_head_dim"});
  latent.plain_dim = size(reader, {"qk_nope_head_dim"});
  latent.value_dim = size(reader, {"v_head_dim"});
  sizes.head_dim = latent.plain_dim;
  sizes.latent = latent;
}

/// Layers with experts: all, but the first `first_k_dense_replace`, those in `mlp_only_layers`, and
/// those that a step leaves out.
std::int64_t sparse_layers(JsonReader& reader, std::int64_t layers) {
  const std::int64_t first = reader.integer_or("first_k_dense_replace", 0);
  const std::int64_t step =
      reader.positive_or(present(reader, {"moe_layer_freq", "decoder_sparse_step"}), 1);
  const bool counted_from_one = reader.has("decoder_sparse_step");
  const std::vector<std::int64_t> dense = reader.integers("mlp_only_layers");
  std::int64_t count = 0;
  for (std::int64_t layer = 0; layer < layers && !reader.failed(); ++layer) {
    const std::int64_t place = counted_from_one ? layer + 1 : layer;
    const bool listed = std::ranges::find(dense, layer) != dense.end();
    count += layer >= first && place % step == 0 && !listed ? 1 : 0;
  }
  return count;
}

void read_experts(JsonReader& reader, const HfFamily& family, ModelSizes& sizes) {
  const std::string_view key =
      present(reader, {"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"});
  if (!reader.has(key) || reader.integer_or(key, 0) <= 1) {
    return;
  }
  ExpertSizes experts;
  experts.experts = size(reader, {key});
  experts.per_token =
      size_or(reader, {"num_experts_per_tok", "moe_top_k", "num_experts_per_token"}, 2);
  experts.feed_forward = size_or(reader, {"moe_intermediate_size"}, sizes.feed_forward);
  if (reader.has("n_shared_experts")) {
    experts.shared_feed_forward = size(reader, {"n_shared_experts"}) * experts.feed_forward;
  } else if (reader.has("shared_expert_intermediate_size")) {
    experts.shared_feed_forward = size(reader, {"shared_expert_intermediate_size"});
    experts.shared_gate = family.shared_gate;
  }
  experts.sparse_layers = sparse_layers(reader, sizes.layers);
  experts.score_bias = reader.text_or("topk_method", "") == "noaux_tc";
  if (!reader.failed() && experts.per_token > experts.experts) {
    reader.reject(
        "num_experts_per_tok",
        fmt::format("is {}, but there are {} experts", experts.per_token, experts.experts));
  }
  sizes.experts = experts;
}

void read_biases(JsonReader& reader, const HfFamily& family, ModelSizes& sizes) {
  const bool all = family.biases;
  const bool attention = reader.boolean_or("attention_bias", reader.boolean_or("bias", all));
  sizes.qkv_bias = family.qkv_bias || attention || reader.boolean_or("use_qkv_bias", false);
  sizes.output_bias = attention && !family.qkv_bias_only;
  sizes.mlp_bias = reader.boolean_or("mlp_bias", family.mlp_bias || reader.boolean_or("bias", all));
  if (family.unbiased_attention) {
    sizes.qkv_bias = false;
    sizes.output_bias = false;
  }
}

void read_encoder_decoder(JsonReader& reader, ModelSizes& sizes) {
  sizes.encoder_layers = sizes.layers;
  sizes.layers = size_or(reader, {"num_decoder_layers"}, sizes.encoder_layers);
  sizes.relative_buckets = size_or(reader, {"relative_attention_num_buckets"}, 32);
  sizes.gated = reader.text_or("feed_forward_proj", "relu").starts_with("gated");
}

void read_bert_ends(JsonReader& reader, ModelSizes& sizes) {
  const std::vector<std::string> architectures = reader.texts("architectures");
  const bool masked = !architectures.empty() && architectures.front() == "BertForMaskedLM";
  sizes.segments = size_or(reader, {"type_vocab_size"}, 2);
  sizes.has_head = masked;
  sizes.head_transform = masked;
  sizes.head_bias = masked;
  sizes.pooler = !masked;
}

/// How a family differs from what the table says about it.
void read_special(JsonReader& reader, const HfFamily& family, ModelSizes& sizes) {
  switch (family.special) {
    case HfSpecial::kNone:
      break;
    case HfSpecial::kFalcon:
      if (reader.boolean_or("new_decoder_architecture", false)) {
        sizes.norms = 2;
      } else if (!reader.boolean_or("parallel_attn", true)) {
        sizes.norms = 2;
      }
      break;
    case HfSpecial::kHalfInner:
      sizes.feed_forward /= 2;
      break;
    case HfSpecial::kOpt:
      sizes.embedding_width = size_or(reader, {"word_embed_proj_dim"}, sizes.hidden);
      sizes.final_norm = reader.boolean_or("do_layer_norm_before", true);
      break;
    case HfSpecial::kExpansion:
      sizes.feed_forward = size_or(reader, {"expansion_ratio"}, 4) * sizes.hidden;
      break;
    case HfSpecial::kEncoderDecoder:
      read_encoder_decoder(reader, sizes);
      break;
    case HfSpecial::kBert:
      read_bert_ends(reader, sizes);
      break;
  }
}

ModelSizes read_sizes(JsonReader& reader, const HfFamily& family) {
  ModelSizes sizes;
  sizes.family = family.type;
  sizes.layers = size(reader, {"num_hidden_layers", "n_layer", "num_layers", "n_layers"});
  sizes.hidden = size(reader, {"hidden_size", "n_embd", "d_model"});
  read_heads(reader, family, sizes);
  const std::int64_t usual = family.inner_is_four_times ? 4 * sizes.hidden : 0;
  const Keys inner = {"intermediate_size", "ffn_dim", "n_inner", "d_ff", "ffn_hidden_size"};
  sizes.feed_forward = usual > 0 ? size_or(reader, inner, usual) : size(reader, inner);
  sizes.vocabulary = size(reader, {"vocab_size"});
  sizes.max_sequence =
      size_or(reader,
              {"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length"},
              2048);
  sizes.norms = family.norms;
  sizes.norm_vectors = family.norm_bias ? 2 : 1;
  sizes.gated = family.gated;
  sizes.head_norm = family.head_norm;
  sizes.embedding_norm = family.embedding_norm;
  sizes.final_norm = family.final_norm;
  sizes.positions = family.learned_positions ? sizes.max_sequence + family.position_offset : 0;
  sizes.tied = reader.boolean_or("tie_word_embeddings", family.tied);
  sizes.head_bias = family.head_bias;
  read_biases(reader, family, sizes);
  if (family.latent) {
    read_latent(reader, sizes);
  }
  read_experts(reader, family, sizes);
  read_special(reader, family, sizes);
  return sizes;
}

}  // namespace

std::vector<std::string_view> hf_families() {
  std::vector<std::string_view> names;
  for (const HfFamily& family : hf_family_table()) {
    names.push_back(family.type);
  }
  std::ranges::sort(names);
  return names;
}

Result<ModelSizes> parse_hf_sizes(std::string_view text, std::string_view where, std::string name) {
  auto json = parse_json(text, where);
  if (!json) {
    return pass_on(std::move(json));
  }
  JsonReader reader(*json, std::string(where));
  auto family = family_of(reader);
  if (!family) {
    return pass_on(std::move(family));
  }
  ModelSizes sizes = read_sizes(reader, *family);
  sizes.name = std::move(name);
  if (json->is_object()) {
    for (const auto& item : json->items()) {
      reader.ignore(item.key());
    }
  }
  if (auto done = reader.finish(); !done) {
    return pass_on(std::move(done));
  }
  return sizes;
}

}  // namespace stagewright
