#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace stagewright {

/// What a family does that the columns below do not say.
enum class HfSpecial : std::uint8_t {
  kNone,
  kFalcon,          ///< a second norm where the attention is not parallel, or in the new form
  kHalfInner,       ///< `intermediate_size` counts both halves of the gated MLP
  kOpt,             ///< projected embedding, norms before or after
  kExpansion,       ///< `expansion_ratio` times hidden
  kEncoderDecoder,  ///< T5
  kBert,            ///< token types, pooler or head by architecture
};

/// A model family as `config.json` names it, with what its layers have and with the defaults of
/// absent keys in the transformers library.
struct HfFamily {
  std::string_view type;          ///< `model_type`
  std::string_view architecture;  ///< first of `architectures`, where `model_type` is absent
  std::int64_t norms = 2;         ///< per layer
  bool norm_bias = false;
  bool gated = true;
  bool biases = false;         ///< of all products
  bool qkv_bias = false;       ///< of the query, key and value projection
  bool qkv_bias_only = false;  ///< even where `attention_bias` says more
  bool mlp_bias = false;
  bool unbiased_attention = false;  ///< although other products have biases
  bool head_norm = false;
  bool embedding_norm = false;
  bool final_norm = true;
  bool tied = false;
  bool head_bias = false;
  bool learned_positions = false;
  std::int64_t position_offset = 0;
  bool inner_is_four_times = false;  ///< where the inner width is absent
  bool one_kv_head = false;          ///< multi-query unless told otherwise
  std::int64_t kv_heads = 0;         ///< where absent; 0: as many as heads
  std::int64_t head_dim = 0;         ///< where absent; 0: hidden / heads
  bool latent = false;
  bool shared_gate = false;
  HfSpecial special = HfSpecial::kNone;
};

[[nodiscard]] std::span<const HfFamily> hf_family_table();
[[nodiscard]] const HfFamily* hf_family_of_type(std::string_view type);  ///< null: not known
[[nodiscard]] const HfFamily* hf_family_of_architecture(std::string_view architecture);

}  // namespace stagewright
