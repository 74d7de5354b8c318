#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/op.h"

namespace stagewright {

/// How the work of one layer operation may be divided inside a group of devices.  A property
/// of the mathematics: what it costs and which collectives it needs is decided in
/// planner/axes.
enum class Split : std::uint8_t {
  kNone,         ///< every member does the same work on the whole input
  kColumn,       ///< output columns are divided; the input is whole, its gradient a partial sum
  kRow,          ///< input columns are divided; the output is a partial sum
  kElementwise,  ///< input and output are divided alike (attention heads, activations)
  kVocabulary,   ///< entries of the vocabulary are divided
};

/// A value inside a layer: one row per token, or per image: then pixel by pixel, all channels of a
/// pixel together.
struct LayerValue {
  std::string name;
  std::int64_t width = 0;  ///< columns
  bool divided = false;    ///< its columns are divided when the layer is split
  friend bool operator==(const LayerValue&, const LayerValue&) = default;
};

enum class LayerOpKind : std::uint8_t {
  kEmbedding,     ///< in {} (tokens), weight {table}
  kPosition,      ///< in {x}, weight {table}: learned positions
  kNorm,          ///< in {x}, weights {gamma, [beta]}
  kLinear,        ///< in {x}, weights {matrix (out, in), [bias (out)]}
  kRope,          ///< in {qkv}: rotary positions; the output is the same value, in place
  kAttention,     ///< in {qkv}
  kActivation,    ///< in {x}
  kAdd,           ///< in {a, b}
  kDropout,       ///< in {x}: `scalar` is the probability
  kCrossEntropy,  ///< in {logits} (and targets): the training loss, summed over tokens
  kSquaredError,  ///< in {y} (and targets): mean over the columns of (y - one hot)^2, likewise
  kExperts,       ///< in {x, scores}, weights {up, down}, a matrix of each expert below the other:
             ///< the MLPs of the experts with the highest scores, summed by the softmax of these
  kImage,        ///< in {} (images): their pixels as numbers from -1 to 1
  kConvolution,  ///< in {x}, weights {matrix (channels out, kernel^2 channels in), [bias]}:
                 ///< `window`
  kPool,         ///< in {x}: `window`, by `variant`
};

/// One operation of a layer as mathematics: sizes without batch, sequence and sharding.
struct LayerOp {
  LayerOpKind kind = LayerOpKind::kAdd;
  std::string name;  ///< unique in the layer: "qkv", "attention", "up"
  std::vector<ValueId> inputs;
  std::optional<ValueId> output;     ///< absent for the loss
  std::vector<std::size_t> weights;  ///< indices into Layer::weights
  Split split = Split::kNone;
  OpVariant variant = OpVariant::kNone;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 1;
  bool causal = false;
  double scalar = 0;  ///< norm epsilon, rope theta, probability of a dropout, weight of the balance
  std::int64_t experts_per_token = 0;  ///< of kExperts; there are as many as columns of the scores
  OpWindow window;                     ///< of convolutions and pools
  friend bool operator==(const LayerOp&, const LayerOp&) = default;
};

enum class Initializer : std::uint8_t {
  kNormal,
  kOnes,
  kZeros
};

/// A named parameter as checkpoints know it, whole (before any sharding).
struct ModelParameter {
  std::string name;                 ///< unique in the model: "block.3.attention.q.weight"
  std::vector<std::int64_t> shape;  ///< (out, in) for matrices, (n) for vectors
  Initializer initializer = Initializer::kNormal;
  double deviation = 0.02;  ///< of kNormal
  bool decay = false;       ///< weight decay applies
  friend bool operator==(const ModelParameter&, const ModelParameter&) = default;
};

/// What one operation multiplies or adds: one or several parameters laid one after
/// the other along their first axis (q, k and v of a fused projection).
struct LayerWeight {
  std::string name;  ///< "qkv.weight"
  std::vector<ModelParameter> parameters;
  /// Axis along which a split divides each of the parameters; absent: whole everywhere.
  std::optional<int> split_axis;
  /// Name of an equal weight elsewhere that this one is tied to ("embedding.table").
  std::optional<std::string> tied_to;
  bool by_expert = false;  ///< rows are those of one expert after the other
  friend bool operator==(const LayerWeight&, const LayerWeight&) = default;
};

enum class LayerRole : std::uint8_t {
  kEmbedding,
  kBlock,
  kHead
};

/// A unit that is placed on a stage as a whole.
struct Layer {
  std::string name;  ///< "embedding", "block.0", "head"
  LayerRole role = LayerRole::kBlock;
  std::vector<LayerValue> values;
  std::vector<LayerOp> ops;  ///< in an order that respects the values
  std::vector<LayerWeight> weights;
  std::optional<ValueId> input;   ///< absent where tokens come in
  std::optional<ValueId> output;  ///< absent where the loss is
  friend bool operator==(const Layer&, const Layer&) = default;
};

/// Sizes of a transformer of equal blocks, however its file spells them.
struct TransformerShape {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t feed_forward = 0;  ///< inner width of the MLP
  std::int64_t vocabulary = 0;
  std::int64_t max_sequence = 0;
  OpVariant norm = OpVariant::kLayerNorm;
  OpVariant activation = OpVariant::kGelu;
  bool learned_positions = true;  ///< else rotary
  double rope_theta = 10000.0;
  double norm_epsilon = 1e-5;
  bool biases = true;  ///< of the linear layers
  bool qkv_bias = true;
  bool tied_embeddings = true;
  bool post_norm = false;  ///< norms stand behind the additions, and none before the head
  bool causal = true;      ///< else every token sees the whole sequence: an encoder
  LayerOpKind loss = LayerOpKind::kCrossEntropy;
  double dropout = 0;        ///< behind the embedding and both projections to the residual stream
  std::int64_t experts = 0;  ///< in place of each MLP, each as wide as it; 0: none
  std::int64_t experts_per_token = 2;
  double balance = 0;  ///< weight of the experts' balance term beside the loss
  friend bool operator==(const TransformerShape&, const TransformerShape&) = default;
};

/// A DAG of layers.  `edges` lead from producer to consumer; a chain for transformers.
struct ModelGraph {
  std::string name;
  std::string family;  ///< "gpt2", "llama", "convnet", ...
  /// Of a convolutional network only `vocabulary`, its classes, and a `max_sequence` of 1 (an image
  /// is one row) say anything.
  TransformerShape shape;
  std::vector<Layer> layers;
  std::vector<std::pair<LayerId, LayerId>> edges;
  friend bool operator==(const ModelGraph&, const ModelGraph&) = default;
};

/// Layers in an order in which every producer comes before its consumers (smallest id
/// first where free).  Fails on a cycle, naming its layers.
[[nodiscard]] Result<std::vector<LayerId>> topological_order(const ModelGraph& graph);

/// The heaviest path by the given weight per layer: its layers in order.
/// REQUIRES: one weight per layer, no cycle.
[[nodiscard]] std::vector<LayerId> critical_path(const ModelGraph& graph,
                                                 const std::vector<double>& weight);

/// Positions k in the topological order (cut before the k-th layer) where exactly one
/// value crosses, so that a stage border there needs one transfer.  Ascending, without 0.
[[nodiscard]] Result<std::vector<std::size_t>> single_value_cuts(const ModelGraph& graph);

/// Whether images come in, not tokens: then a sequence is one image, and rows are images.
[[nodiscard]] bool sees_images(const ModelGraph& graph);

/// Number of trainable parameters; tied ones count once.
[[nodiscard]] std::int64_t parameter_count(const ModelGraph& graph);
[[nodiscard]] std::int64_t parameter_count(const Layer& layer);  ///< tied weights excluded

/// Floating-point operations of one forward and backward pass over `tokens` tokens in sequences
/// (images) of `sequence`: products, convolutions and attention only, no recompute (the numerator
/// of MFU; Chowdhery et al. 2022, appendix B; causal attention counted half).
[[nodiscard]] Flops model_flops(const ModelGraph& graph,
                                std::int64_t tokens,
                                std::int64_t sequence);

/// Hash over the content that decides whether a plan or schedule fits this model.
[[nodiscard]] std::string model_hash(const ModelGraph& graph);

}  // namespace stagewright
