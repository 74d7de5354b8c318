#include "formats/hf_config.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/json_reader.h"
#include "core/model/transformer.h"

namespace stagewright {
namespace {

enum class Family : std::uint8_t {
  kLlama,
  kMistral,
  kQwen2,
  kGpt2
};

struct FamilyEntry {
  Family family;
  std::string_view model_type;
  std::vector<std::string_view> architectures;
};

const std::vector<FamilyEntry>& families() {
  static const std::vector<FamilyEntry> kFamilies = {
      {Family::kLlama, "llama", {"LlamaForCausalLM", "LLaMAForCausalLM"}},
      {Family::kMistral, "mistral", {"MistralForCausalLM"}},
      {Family::kQwen2, "qwen2", {"Qwen2ForCausalLM"}},
      {Family::kGpt2, "gpt2", {"GPT2LMHeadModel"}},
  };
  return kFamilies;
}

/// The first of the given keys that is there, to read and to name in messages.
std::string_view present(JsonReader& reader, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (reader.has(key)) {
      return key;
    }
  }
  return *keys.begin();
}

Error unsupported(const JsonReader& reader, std::string_view key, std::string message) {
  return Error{ErrorCode::kUnsupported, std::move(message), reader.where(key)};
}

Error unknown_architecture(const JsonReader& reader, std::string_view key, std::string_view found) {
  std::vector<std::string_view> known;
  for (const FamilyEntry& entry : families()) {
    known.push_back(entry.architectures.front());
  }
  return unsupported(
      reader,
      key,
      fmt::format(
          "architecture '{}' is not supported; supported are {}", found, fmt::join(known, ", ")));
}

Result<FamilyEntry> family_of(JsonReader& reader) {
  const std::string type = reader.text_or("model_type", "");
  const std::vector<std::string> architectures = reader.texts("architectures");
  if (auto done = reader.failed() ? reader.finish() : Result<void>{}; !done) {
    return pass_on(std::move(done));
  }
  if (type.empty() && architectures.empty()) {
    return tl::unexpected<Error>(unsupported(
        reader,
        "model_type",
        "is absent, and so is 'architectures': the file does not say what model it describes; add "
        "for example \"model_type\": \"llama\""));
  }
  for (const FamilyEntry& entry : families()) {
    const bool by_architecture =
        !architectures.empty() &&
        std::ranges::find(entry.architectures, architectures.front()) != entry.architectures.end();
    if (by_architecture && (type.empty() || type == entry.model_type)) {
      return entry;
    }
    if (architectures.empty() && type == entry.model_type) {
      return entry;
    }
  }
  const bool known_architecture = std::ranges::any_of(families(), [&](const FamilyEntry& entry) {
    return !architectures.empty() &&
           std::ranges::find(entry.architectures, architectures.front()) !=
               entry.architectures.end();
  });
  const bool by_type = architectures.empty() || known_architecture;
  return tl::unexpected<Error>(unknown_architecture(
      reader, by_type ? "model_type" : "architectures", by_type ? type : architectures.front()));
}

/// What would make a model of a supported family something that our layers are not.
std::optional<Error> deviation(JsonReader& reader) {
  for (const std::string_view key : {"is_encoder_decoder", "add_cross_attention"}) {
    if (reader.boolean_or(key, false)) {
      return unsupported(reader, key, "is true; only decoders are supported");
    }
  }
  if (!reader.boolean_or("is_causal", true)) {
    return unsupported(reader, "is_causal", "is false; only causal attention is supported");
  }
  for (const std::string_view key :
       {"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"}) {
    if (reader.integer_or(key, 1) > 1) {
      return unsupported(reader, key, "mixture-of-experts layers are not supported");
    }
  }
  return std::nullopt;
}

/// Positions that an attention window leaves exact.
void limit_to_window(JsonReader& reader, Family family, TransformerShape& shape) {
  const bool used = family == Family::kMistral || reader.boolean_or("use_sliding_window", false);
  if (used && reader.has("sliding_window")) {
    shape.max_sequence = std::min(shape.max_sequence, reader.positive("sliding_window"));
  }
}

void read_heads(JsonReader& reader, TransformerShape& shape) {
  shape.head_dim = 1;
  if (reader.has("head_dim")) {
    shape.head_dim = reader.count("head_dim");
  } else if (!reader.failed() && shape.hidden % shape.heads != 0) {
    reader.reject("num_attention_heads",
                  fmt::format("is {}, which does not divide hidden_size {}; correct one of them or "
                              "add 'head_dim'",
                              shape.heads,
                              shape.hidden));
  } else if (!reader.failed()) {
    shape.head_dim = shape.hidden / shape.heads;
  }
  if (!reader.failed() && shape.heads % shape.kv_heads != 0) {
    reader.reject(
        "num_key_value_heads",
        fmt::format(
            "is {}, which does not divide num_attention_heads {}", shape.kv_heads, shape.heads));
  }
}

/// Llama and the families that differ from it by defaults only.  Defaults of keys that do not
/// change sizes are those of the transformers library.
Result<TransformerShape> read_llama_like(JsonReader& reader, Family family) {
  const bool mistral = family == Family::kMistral;
  TransformerShape shape;
  shape.norm = OpVariant::kRmsNorm;
  shape.activation = OpVariant::kSwiGlu;
  shape.learned_positions = false;
  shape.layers = reader.count("num_hidden_layers");
  shape.hidden = reader.count("hidden_size");
  shape.heads = reader.count("num_attention_heads");
  // transformers' MistralConfig has 8 where the key is absent.
  shape.kv_heads =
      reader.positive_or("num_key_value_heads", mistral && shape.heads % 8 == 0 ? 8 : shape.heads);
  read_heads(reader, shape);
  shape.feed_forward = reader.count("intermediate_size");
  shape.vocabulary = reader.count("vocab_size");
  shape.max_sequence = reader.positive_or("max_position_embeddings",
                                          mistral                    ? 131072
                                          : family == Family::kQwen2 ? 32768
                                                                     : 2048);
  limit_to_window(reader, family, shape);
  shape.rope_theta = reader.number_or("rope_theta", 10000.0);
  shape.norm_epsilon = reader.number_or("rms_norm_eps", 1e-6);
  shape.tied_embeddings = reader.boolean_or("tie_word_embeddings", false);
  const std::string activation = reader.text_or("hidden_act", "silu");
  if (!reader.failed() && activation != "silu" && activation != "swish") {
    return tl::unexpected<Error>(unsupported(
        reader,
        "hidden_act",
        fmt::format("'{}' is not supported in a gated MLP; supported is silu", activation)));
  }
  const bool attention_bias = reader.boolean_or("attention_bias", false);
  const bool mlp_bias = reader.boolean_or("mlp_bias", false);
  if (!reader.failed() && attention_bias != mlp_bias) {
    return tl::unexpected<Error>(unsupported(reader,
                                             attention_bias ? "attention_bias" : "mlp_bias",
                                             "biases in attention or MLP alone are not supported"));
  }
  shape.biases = attention_bias;
  shape.qkv_bias = attention_bias || family == Family::kQwen2;
  return shape;
}

Result<TransformerShape> read_gpt2(JsonReader& reader) {
  TransformerShape shape;
  shape.layers = reader.count(present(reader, {"n_layer", "num_hidden_layers"}));
  shape.hidden = reader.count(present(reader, {"n_embd", "hidden_size"}));
  const std::string_view heads = present(reader, {"n_head", "num_attention_heads"});
  shape.heads = shape.kv_heads = reader.count(heads);
  shape.head_dim = 1;
  if (!reader.failed() && shape.hidden % shape.heads != 0) {
    reader.reject(
        heads,
        fmt::format("is {}, which does not divide the hidden size {}; correct one of them",
                    shape.heads,
                    shape.hidden));
  } else if (!reader.failed()) {
    shape.head_dim = shape.hidden / shape.heads;
  }
  shape.feed_forward = reader.positive_or("n_inner", 4 * shape.hidden);
  shape.vocabulary = reader.count("vocab_size");
  shape.max_sequence = reader.positive_or(
      present(reader, {"n_positions", "max_position_embeddings", "n_ctx"}), 1024);
  shape.norm_epsilon = reader.number_or("layer_norm_epsilon", 1e-5);
  shape.tied_embeddings = reader.boolean_or("tie_word_embeddings", true);
  const std::string activation = reader.text_or("activation_function", "gelu_new");
  static constexpr std::array<std::string_view, 4> kGelus = {
      "gelu_new", "gelu", "gelu_fast", "gelu_pytorch_tanh"};
  if (activation == "relu") {
    shape.activation = OpVariant::kRelu;
  } else if (!reader.failed() && std::ranges::find(kGelus, activation) == kGelus.end()) {
    return tl::unexpected<Error>(
        unsupported(reader,
                    "activation_function",
                    fmt::format("'{}' is not supported; supported are {} and relu",
                                activation,
                                fmt::join(kGelus, ", "))));
  }
  return shape;
}

}  // namespace

Result<ModelGraph> parse_hf_config(std::string_view text,
                                   std::string_view where,
                                   std::string name) {
  auto json = parse_json(text, where);
  if (!json) {
    return pass_on(std::move(json));
  }
  JsonReader reader(*json, std::string(where));
  auto entry = family_of(reader);
  if (!entry) {
    return pass_on(std::move(entry));
  }
  if (auto error = deviation(reader)) {
    return tl::unexpected<Error>(std::move(*error));
  }
  auto shape =
      entry->family == Family::kGpt2 ? read_gpt2(reader) : read_llama_like(reader, entry->family);
  for (const auto& item : json->items()) {
    reader.ignore(item.key());
  }
  if (auto done = reader.finish(); !done) {
    return pass_on(std::move(done));
  }
  if (!shape) {
    return pass_on(std::move(shape));
  }
  auto graph = make_transformer(std::move(name), std::string(entry->model_type), *shape);
  if (!graph) {
    graph.error().where = where;
  }
  return graph;
}

}  // namespace stagewright
