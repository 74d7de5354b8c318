#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace stagewright {

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1).
struct LatentSizes {
  std::optional<std::int64_t> query_rank;  ///< absent: queries are projected directly
  std::int64_t key_value_rank = 0;
  std::int64_t rope_dim = 0;   ///< of a head, rotary; one key part is shared by all heads
  std::int64_t plain_dim = 0;  ///< of a head, without positions
  std::int64_t value_dim = 0;
  friend bool operator==(const LatentSizes&, const LatentSizes&) = default;
};

/// Experts in place of the MLP of some layers.
struct ExpertSizes {
  std::int64_t experts = 0;
  std::int64_t per_token = 1;
  std::int64_t feed_forward = 0;
  std::int64_t shared_feed_forward = 0;  ///< all shared experts together
  std::int64_t sparse_layers = 0;        ///< layers that have experts
  bool shared_gate = false;              ///< one weight per hidden element scales the shared expert
  bool score_bias = false;               ///< one correction an expert
  friend bool operator==(const ExpertSizes&, const ExpertSizes&) = default;
};

/// Sizes of a transformer of any family that the readers know, in the detail that an exact count of
/// its parameters needs.  Families that can also be planned and run have a ModelGraph besides.
struct ModelSizes {
  std::string name;
  std::string family;  ///< "llama", "deepseek_v3", ...
  std::int64_t layers = 0;
  std::int64_t encoder_layers = 0;  ///< of an encoder-decoder; `layers` are then the decoder's
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t feed_forward = 0;
  std::int64_t vocabulary = 0;
  std::int64_t max_sequence = 0;
  std::int64_t embedding_width = 0;   ///< of the table, where it is projected to `hidden`; 0: same
  std::int64_t positions = 0;         ///< rows of a learned table; 0: none
  std::int64_t segments = 0;          ///< rows of a table of token types
  std::int64_t relative_buckets = 0;  ///< of a bias per head, in encoder and decoder
  std::int64_t norms = 2;             ///< per layer
  std::int64_t norm_vectors = 1;      ///< of a norm: gain, or gain and bias
  bool gated = false;                 ///< the MLP has three matrices
  bool qkv_bias = false;
  bool output_bias = false;
  bool mlp_bias = false;
  bool head_norm = false;  ///< of queries and keys, one gain per dimension of a head
  bool embedding_norm = false;
  bool final_norm = true;
  bool tied = false;  ///< output layer and embedding are one table
  bool head_bias = false;
  bool head_transform = false;  ///< BERT's dense layer and norm before the output layer
  bool pooler = false;          ///< BERT's dense layer on the first token
  bool has_head = true;
  std::optional<LatentSizes> latent;
  std::optional<ExpertSizes> experts;
  friend bool operator==(const ModelSizes&, const ModelSizes&) = default;
};

/// Trainable parameters by place.  The parts add up to `total`.
struct SizeCounts {
  std::int64_t total = 0;
  std::int64_t active = 0;     ///< of `total`, what one token visits
  std::int64_t embedding = 0;  ///< tables, their norm and projections
  std::int64_t attention = 0;
  std::int64_t mlp = 0;  ///< dense ones and shared experts
  std::int64_t experts = 0;
  std::int64_t routers = 0;
  std::int64_t norms = 0;
  std::int64_t head = 0;  ///< output layer where it is not tied, biases, pooler
  friend bool operator==(const SizeCounts&, const SizeCounts&) = default;
};
[[nodiscard]] SizeCounts parameter_counts(const ModelSizes& sizes);

}  // namespace stagewright
