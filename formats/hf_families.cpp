#include "formats/hf_families.h"

#include <algorithm>
#include <array>

namespace stagewright {
namespace {

/// Layer norms with biases, plain MLP, biases everywhere: GPT-2 and its kin.
constexpr HfFamily gpt(std::string_view type, std::string_view architecture) {
  HfFamily family{.type = type, .architecture = architecture};
  family.norm_bias = true;
  family.gated = false;
  family.biases = true;
  family.mlp_bias = true;
  family.inner_is_four_times = true;
  return family;
}

constexpr HfFamily gpt2(std::string_view type, std::string_view architecture) {
  HfFamily family = gpt(type, architecture);
  family.learned_positions = true;
  family.tied = true;
  return family;
}

/// One norm for attention and MLP side by side, biases in the MLP only, and in the head.
constexpr HfFamily parallel(std::string_view type, std::string_view architecture) {
  HfFamily family = gpt(type, architecture);
  family.norms = 1;
  family.unbiased_attention = true;
  family.head_bias = true;
  return family;
}

/// RMS norms, rotary positions, gated MLP, no biases: Llama and its kin.
constexpr HfFamily llama(std::string_view type, std::string_view architecture) {
  return {.type = type, .architecture = architecture};
}

constexpr HfFamily with_qkv_bias(HfFamily family) {
  family.qkv_bias = true;
  family.qkv_bias_only = true;
  return family;
}

constexpr HfFamily gemma(std::string_view type, std::string_view architecture, std::int64_t norms) {
  HfFamily family = llama(type, architecture);
  family.norms = norms;
  family.tied = true;
  family.head_dim = 256;
  return family;
}

constexpr HfFamily latent(std::string_view type, std::string_view architecture) {
  HfFamily family = llama(type, architecture);
  family.latent = true;
  return family;
}

constexpr HfFamily with_head_norm(HfFamily family, std::int64_t head_dim) {
  family.head_norm = true;
  family.head_dim = head_dim;
  return family;
}

constexpr HfFamily with_kv_heads(HfFamily family, std::int64_t kv_heads) {
  family.kv_heads = kv_heads;
  return family;
}

constexpr HfFamily bloom() {
  HfFamily family = gpt("bloom", "BloomForCausalLM");
  family.embedding_norm = true;
  family.tied = true;
  return family;
}

constexpr HfFamily bigcode() {
  HfFamily family = gpt2("gpt_bigcode", "GPTBigCodeForCausalLM");
  family.one_kv_head = true;
  return family;
}

constexpr HfFamily opt() {
  HfFamily family = gpt2("opt", "OPTForCausalLM");
  family.position_offset = 2;
  family.special = HfSpecial::kOpt;
  return family;
}

constexpr HfFamily phi() {
  HfFamily family = gpt("phi", "PhiForCausalLM");
  family.norms = 1;
  family.head_bias = true;
  return family;
}

constexpr HfFamily falcon() {
  HfFamily family = gpt("falcon", "FalconForCausalLM");
  family.norms = 1;
  family.biases = false;
  family.mlp_bias = false;
  family.tied = true;
  family.one_kv_head = true;
  family.special = HfSpecial::kFalcon;
  return family;
}

constexpr HfFamily mpt() {
  HfFamily family = gpt("mpt", "MPTForCausalLM");
  family.norm_bias = false;
  family.biases = false;
  family.mlp_bias = false;
  family.tied = true;
  family.special = HfSpecial::kExpansion;
  return family;
}

constexpr HfFamily stablelm() {
  HfFamily family = llama("stablelm", "StableLmForCausalLM");
  family.norm_bias = true;
  family.qkv_bias_only = true;
  return family;
}

constexpr HfFamily qwen() {
  HfFamily family = with_qkv_bias(llama("qwen", "QWenLMHeadModel"));
  family.special = HfSpecial::kHalfInner;
  return family;
}

constexpr HfFamily qwen2_moe() {
  HfFamily family = with_qkv_bias(llama("qwen2_moe", "Qwen2MoeForCausalLM"));
  family.shared_gate = true;
  return family;
}

constexpr HfFamily bert() {
  HfFamily family = gpt("bert", "BertModel");
  family.learned_positions = true;
  family.embedding_norm = true;
  family.final_norm = false;
  family.tied = true;
  family.special = HfSpecial::kBert;
  return family;
}

constexpr HfFamily t5(std::string_view type, std::string_view architecture) {
  HfFamily family = llama(type, architecture);
  family.gated = false;
  family.tied = true;
  family.special = HfSpecial::kEncoderDecoder;
  return family;
}

constexpr std::array kFamilies = {
    llama("llama", "LlamaForCausalLM"),
    with_kv_heads(llama("mistral", "MistralForCausalLM"), 8),
    with_kv_heads(llama("mixtral", "MixtralForCausalLM"), 8),
    qwen(),
    with_qkv_bias(llama("qwen2", "Qwen2ForCausalLM")),
    qwen2_moe(),
    with_head_norm(llama("qwen3", "Qwen3ForCausalLM"), 128),
    with_head_norm(llama("qwen3_moe", "Qwen3MoeForCausalLM"), 128),
    gemma("gemma", "GemmaForCausalLM", 2),
    gemma("gemma2", "Gemma2ForCausalLM", 4),
    with_head_norm(gemma("gemma3_text", "Gemma3ForCausalLM", 4), 256),
    latent("deepseek_v2", "DeepseekV2ForCausalLM"),
    latent("deepseek_v3", "DeepseekV3ForCausalLM"),
    latent("kimi_k2", "KimiK2ForCausalLM"),
    llama("phi3", "Phi3ForCausalLM"),
    llama("baichuan", "BaichuanForCausalLM"),
    llama("internlm", "InternLMForCausalLM"),
    llama("internlm2", "InternLM2ForCausalLM"),
    llama("xverse", "XverseForCausalLM"),
    stablelm(),
    gpt2("gpt2", "GPT2LMHeadModel"),
    bigcode(),
    gpt("gpt_neox", "GPTNeoXForCausalLM"),
    parallel("gptj", "GPTJForCausalLM"),
    parallel("codegen", "CodeGenForCausalLM"),
    phi(),
    opt(),
    bloom(),
    falcon(),
    mpt(),
    bert(),
    t5("t5", "T5ForConditionalGeneration"),
    t5("mt5", "MT5ForConditionalGeneration"),
};

struct OtherName {
  std::string_view architecture;
  std::string_view type;
};

/// Architectures of a family beside the usual one.
constexpr std::array kOtherNames = {
    OtherName{"LLaMAForCausalLM", "llama"},
    OtherName{"T5WithLMHeadModel", "t5"},
    OtherName{"BertForMaskedLM", "bert"},
    OtherName{"RWForCausalLM", "falcon"},
};

}  // namespace

std::span<const HfFamily> hf_family_table() {
  return kFamilies;
}

const HfFamily* hf_family_of_type(std::string_view type) {
  const auto* const found = std::ranges::find(kFamilies, type, &HfFamily::type);
  return found == kFamilies.end() ? nullptr : found;
}

const HfFamily* hf_family_of_architecture(std::string_view architecture) {
  const auto* const found = std::ranges::find(kFamilies, architecture, &HfFamily::architecture);
  if (found != kFamilies.end()) {
    return found;
  }
  const auto* const other = std::ranges::find(kOtherNames, architecture, &OtherName::architecture);
  return other == kOtherNames.end() ? nullptr : hf_family_of_type(other->type);
}

}  // namespace stagewright
