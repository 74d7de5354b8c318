#include "core/model/transformer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace stagewright {
namespace {

// Deviation of GPT-2's initial weights (Radford et al. 2019, section 2.3 and its released code).
constexpr double kDeviation = 0.02;
// Sizes above these are slips of the keyboard; they keep products inside 64 bits and lists small.
constexpr std::int64_t kLargestSize = 1'000'000'000;
constexpr std::int64_t kMostLayers = 100'000;
constexpr double kMostParameters = 1e15;
constexpr std::int64_t kMostExperts = 512;

/// Adds values, weights and operations to one layer.
class LayerBuilder {
 public:
  LayerBuilder(const TransformerShape& shape, std::string name, LayerRole role) : shape_(shape) {
    layer_.name = std::move(name);
    layer_.role = role;
  }

  ValueId value(std::string name, std::int64_t width, bool divided = false) {
    layer_.values.push_back({std::move(name), width, divided});
    return ValueId(layer_.values.size() - 1);
  }

  std::size_t weight(LayerWeight weight) {
    layer_.weights.push_back(std::move(weight));
    return layer_.weights.size() - 1;
  }

  LayerOp& op(LayerOpKind kind, std::string name, std::vector<ValueId> inputs, Split split) {
    LayerOp op;
    op.kind = kind;
    op.name = std::move(name);
    op.inputs = std::move(inputs);
    op.split = split;
    layer_.ops.push_back(std::move(op));
    return layer_.ops.back();
  }

  ValueId norm(const std::string& name, const std::string& parameter, ValueId x) {
    const ValueId y = value(name, shape_.hidden);
    LayerOp& norm = op(LayerOpKind::kNorm, name, {x}, Split::kNone);
    norm.output = y;
    norm.variant = shape_.norm;
    norm.scalar = shape_.norm_epsilon;
    norm.weights.push_back(vector(name + ".weight", parameter + ".weight", Initializer::kOnes));
    if (shape_.norm == OpVariant::kLayerNorm) {
      norm.weights.push_back(vector(name + ".bias", parameter + ".bias", Initializer::kZeros));
    }
    return y;
  }

  /// One of the parameters of a linear operation.
  struct Part {
    std::string parameter;  ///< without ".weight"
    std::int64_t out = 0;
  };

  ValueId linear(const std::string& name,
                 ValueId x,
                 const std::vector<Part>& parts,
                 Split split,
                 bool bias,
                 double deviation = kDeviation) {
    const std::int64_t in = layer_.values[x.index()].width;
    LayerWeight matrix{name + ".weight", {}, {}, {}};
    if (split != Split::kNone) {
      matrix.split_axis = split == Split::kRow ? 1 : 0;
    }
    LayerWeight shift{name + ".bias", {}, {}, {}};
    if (split == Split::kColumn) {
      shift.split_axis = 0;
    }
    std::int64_t out = 0;
    for (const Part& part : parts) {
      matrix.parameters.push_back(
          {part.parameter + ".weight", {part.out, in}, Initializer::kNormal, deviation, true});
      shift.parameters.push_back(
          {part.parameter + ".bias", {part.out}, Initializer::kZeros, 0, false});
      out += part.out;
    }
    const ValueId y = value(name, out, split == Split::kColumn || split == Split::kVocabulary);
    LayerOp& linear = op(LayerOpKind::kLinear, name, {x}, split);
    linear.output = y;
    linear.weights.push_back(weight(std::move(matrix)));
    if (bias) {
      linear.weights.push_back(weight(std::move(shift)));
    }
    return y;
  }

  /// A router and the experts that it chooses from.
  ValueId experts(const std::string& name, ValueId x, double out_deviation) {
    const std::int64_t gates = shape_.activation == OpVariant::kSwiGlu ? 2 : 1;
    const auto stacked = [this](const std::string& parameter, std::int64_t out, std::int64_t in) {
      LayerWeight weight{parameter, {}, {}, {}};
      weight.parameters.push_back({parameter, {shape_.experts * out, in}, Initializer::kNormal});
      weight.parameters.back().decay = true;
      weight.by_expert = true;
      return weight;
    };
    const ValueId scores =
        linear("router", x, {{name + ".router", shape_.experts}}, Split::kNone, false);
    LayerWeight up =
        stacked(name + ".experts.up.weight", gates * shape_.feed_forward, shape_.hidden);
    up.name = "experts.up.weight";
    LayerWeight down = stacked(name + ".experts.down.weight", shape_.hidden, shape_.feed_forward);
    down.name = "experts.down.weight";
    down.parameters.front().deviation = out_deviation;
    const ValueId y = value("experts", shape_.hidden);
    LayerOp& experts = op(LayerOpKind::kExperts, "experts", {x, scores}, Split::kNone);
    experts.output = y;
    experts.variant = shape_.activation;
    experts.scalar = shape_.balance;
    experts.experts_per_token = shape_.experts_per_token;
    experts.weights = {weight(std::move(up)), weight(std::move(down))};
    return y;
  }

  /// Nothing where the model drops nothing.
  ValueId dropout(const std::string& name, ValueId x) {
    if (shape_.dropout == 0) {
      return x;
    }
    const ValueId y = value(name, layer_.values[x.index()].width);
    LayerOp& dropout = op(LayerOpKind::kDropout, name, {x}, Split::kNone);
    dropout.output = y;
    dropout.scalar = shape_.dropout;
    return y;
  }

  ValueId add(const std::string& name, ValueId a, ValueId b) {
    const ValueId y = value(name, layer_.values[a.index()].width);
    op(LayerOpKind::kAdd, name, {a, b}, Split::kNone).output = y;
    return y;
  }

  Layer finish(std::optional<ValueId> input, std::optional<ValueId> output) {
    layer_.input = input;
    layer_.output = output;
    return std::move(layer_);
  }

 private:
  std::size_t vector(std::string name, std::string parameter, Initializer initializer) {
    return weight({std::move(name),
                   {{std::move(parameter), {shape_.hidden}, initializer, 0, false}},
                   {},
                   {}});
  }

  const TransformerShape& shape_;
  Layer layer_;
};

void set_heads(LayerOp& op, const TransformerShape& shape) {
  op.heads = shape.heads;
  op.kv_heads = shape.kv_heads;
  op.head_dim = shape.head_dim;
}

Layer make_embedding(const TransformerShape& shape) {
  LayerBuilder layer(shape, "embedding", LayerRole::kEmbedding);
  const std::size_t table = layer.weight({"table",
                                          {{"embedding.table",
                                            {shape.vocabulary, shape.hidden},
                                            Initializer::kNormal,
                                            kDeviation,
                                            true}},
                                          0,
                                          {}});
  ValueId x = layer.value("embedding", shape.hidden);
  LayerOp& embedding = layer.op(LayerOpKind::kEmbedding, "embedding", {}, Split::kVocabulary);
  embedding.output = x;
  embedding.weights = {table};
  if (shape.learned_positions) {
    const std::size_t positions = layer.weight({"position.table",
                                                {{"embedding.position.table",
                                                  {shape.max_sequence, shape.hidden},
                                                  Initializer::kNormal,
                                                  kDeviation,
                                                  true}},
                                                {},
                                                {}});
    const ValueId y = layer.value("position", shape.hidden);
    LayerOp& position = layer.op(LayerOpKind::kPosition, "position", {x}, Split::kNone);
    position.output = y;
    position.weights = {positions};
    x = y;
  }
  return layer.finish({}, layer.dropout("dropout", x));
}

ValueId add_attention(LayerBuilder& layer,
                      const TransformerShape& shape,
                      const std::string& name,
                      ValueId x,
                      double out_deviation) {
  const std::string norm = name + ".attention_norm";
  const ValueId normed = shape.post_norm ? x : layer.norm("attention_norm", norm, x);
  const std::int64_t q_width = shape.heads * shape.head_dim;
  const std::int64_t kv_width = shape.kv_heads * shape.head_dim;
  const ValueId qkv = layer.linear("qkv",
                                   normed,
                                   {{name + ".attention.q", q_width},
                                    {name + ".attention.k", kv_width},
                                    {name + ".attention.v", kv_width}},
                                   Split::kColumn,
                                   shape.qkv_bias);
  if (!shape.learned_positions) {
    LayerOp& rope = layer.op(LayerOpKind::kRope, "rope", {qkv}, Split::kElementwise);
    rope.output = qkv;
    rope.scalar = shape.rope_theta;
    set_heads(rope, shape);
  }
  const ValueId mixed = layer.value("attention", q_width, true);
  LayerOp& attention = layer.op(LayerOpKind::kAttention, "attention", {qkv}, Split::kElementwise);
  attention.output = mixed;
  attention.causal = shape.causal;
  set_heads(attention, shape);
  const ValueId out = layer.linear("attention_out",
                                   mixed,
                                   {{name + ".attention.out", shape.hidden}},
                                   Split::kRow,
                                   shape.biases,
                                   out_deviation);
  const ValueId sum = layer.add("attention_add", layer.dropout("attention_dropout", out), x);
  return shape.post_norm ? layer.norm("attention_norm", norm, sum) : sum;
}

ValueId add_mlp(LayerBuilder& layer,
                const TransformerShape& shape,
                const std::string& name,
                ValueId x,
                double out_deviation) {
  const std::string norm = name + ".mlp_norm";
  const ValueId normed = shape.post_norm ? x : layer.norm("mlp_norm", norm, x);
  if (shape.experts > 0) {
    const ValueId mixed = layer.experts(name + ".mlp", normed, out_deviation);
    const ValueId sum = layer.add("mlp_add", layer.dropout("mlp_dropout", mixed), x);
    return shape.post_norm ? layer.norm("mlp_norm", norm, sum) : sum;
  }
  std::vector<LayerBuilder::Part> parts;
  if (shape.activation == OpVariant::kSwiGlu) {
    parts.push_back({name + ".mlp.gate", shape.feed_forward});
  }
  parts.push_back({name + ".mlp.up", shape.feed_forward});
  const ValueId up = layer.linear("up", normed, parts, Split::kColumn, shape.biases);
  const ValueId active = layer.value("activation", shape.feed_forward, true);
  LayerOp& activation = layer.op(LayerOpKind::kActivation, "activation", {up}, Split::kElementwise);
  activation.output = active;
  activation.variant = shape.activation;
  const ValueId down = layer.linear("down",
                                    active,
                                    {{name + ".mlp.down", shape.hidden}},
                                    Split::kRow,
                                    shape.biases,
                                    out_deviation);
  const ValueId sum = layer.add("mlp_add", layer.dropout("mlp_dropout", down), x);
  return shape.post_norm ? layer.norm("mlp_norm", norm, sum) : sum;
}

Layer make_block(const TransformerShape& shape, std::int64_t index) {
  const std::string name = fmt::format("block.{}", index);
  // Projections that add to the residual stream are scaled by its depth (GPT-2, section 2.3).
  const double out_deviation = kDeviation / std::sqrt(2.0 * static_cast<double>(shape.layers));
  LayerBuilder layer(shape, name, LayerRole::kBlock);
  const ValueId x = layer.value("input", shape.hidden);
  const ValueId middle = add_attention(layer, shape, name, x, out_deviation);
  const ValueId y = add_mlp(layer, shape, name, middle, out_deviation);
  return layer.finish(x, y);
}

Layer make_head(const TransformerShape& shape) {
  LayerBuilder layer(shape, "head", LayerRole::kHead);
  const ValueId x = layer.value("input", shape.hidden);
  const ValueId normed = shape.post_norm ? x : layer.norm("norm", "head.norm", x);
  const ValueId logits =
      layer.linear("logits", normed, {{"head", shape.vocabulary}}, Split::kVocabulary, false);
  layer.op(shape.loss, "loss", {logits}, Split::kVocabulary);
  Layer head = layer.finish(x, {});
  if (shape.tied_embeddings) {
    head.weights.back().tied_to = "embedding.table";
  }
  return head;
}

Result<void> check_sizes(const TransformerShape& shape) {
  const std::array<std::pair<std::string_view, std::int64_t>, 8> sizes = {{
      {"layers", shape.layers},
      {"hidden", shape.hidden},
      {"heads", shape.heads},
      {"kv_heads", shape.kv_heads},
      {"head_dim", shape.head_dim},
      {"feed_forward", shape.feed_forward},
      {"vocabulary", shape.vocabulary},
      {"max_sequence", shape.max_sequence},
  }};
  for (const auto& [field, size] : sizes) {
    if (size < 1) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("'{}' is {}; it must be 1 or more", field, size));
    }
    const std::int64_t most = field == "layers" ? kMostLayers : kLargestSize;
    if (size > most) {
      return fail(
          ErrorCode::kInvalidInput,
          fmt::format("'{}' is {}, more than the {} that are supported", field, size, most));
    }
  }
  return {};
}

/// Of about as many parameters as the matrices hold; sums of their bytes must stay inside 64 bits.
Result<void> check_parameters(const TransformerShape& shape) {
  const auto hidden = static_cast<double>(shape.hidden);
  const double attention =
      static_cast<double>(shape.head_dim) * static_cast<double>(shape.heads + shape.kv_heads) * 2;
  const double block =
      hidden * (attention + 3 * static_cast<double>(shape.feed_forward) *
                                static_cast<double>(std::max<std::int64_t>(shape.experts, 1)));
  const double ends = hidden * (2 * static_cast<double>(shape.vocabulary) +
                                static_cast<double>(shape.max_sequence));
  const double parameters = static_cast<double>(shape.layers) * block + ends;
  if (parameters > kMostParameters) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("the sizes make about {:.1e} parameters, more than the {:.0e} that are "
                            "supported; check layers, hidden, heads, feed_forward and vocabulary",
                            parameters,
                            kMostParameters));
  }
  return {};
}

Result<void> check_experts(const TransformerShape& shape) {
  if (shape.experts == 0) {
    return {};
  }
  if (shape.experts < 2 || shape.experts > kMostExperts) {
    return fail(
        ErrorCode::kInvalidInput,
        fmt::format(
            "'experts' is {}; use 2 to {}, or 0 for a model without", shape.experts, kMostExperts));
  }
  if (shape.experts_per_token < 1 || shape.experts_per_token > shape.experts) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("'experts_per_token' is {}; there are {} experts",
                            shape.experts_per_token,
                            shape.experts));
  }
  if (!(shape.balance >= 0 && shape.balance < 1e6)) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("'balance' is {}; it is the weight of a term of the loss, 0 or more",
                            shape.balance));
  }
  return {};
}

Result<void> check_shape(const TransformerShape& shape) {
  if (auto sizes = check_sizes(shape); !sizes) {
    return sizes;
  }
  if (auto parameters = check_parameters(shape); !parameters) {
    return parameters;
  }
  if (shape.heads % shape.kv_heads != 0) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{} heads are not divisible by {} kv_heads; every key and value head "
                            "must serve equally many query heads",
                            shape.heads,
                            shape.kv_heads));
  }
  if (!(shape.dropout >= 0 && shape.dropout < 1)) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("'dropout' is {}; it is a probability below 1", shape.dropout));
  }
  if (auto experts = check_experts(shape); !experts) {
    return experts;
  }
  if (!shape.learned_positions && shape.head_dim % 2 != 0) {
    return fail(
        ErrorCode::kInvalidInput,
        fmt::format("'head_dim' is {}; rotary positions need an even number", shape.head_dim));
  }
  if (shape.norm != OpVariant::kLayerNorm && shape.norm != OpVariant::kRmsNorm) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("'norm' is {}; use layer-norm or rms-norm", name_of(shape.norm)));
  }
  if (shape.activation != OpVariant::kGelu && shape.activation != OpVariant::kSwiGlu &&
      shape.activation != OpVariant::kRelu) {
    return fail(
        ErrorCode::kInvalidInput,
        fmt::format("'activation' is {}; use gelu, relu or swiglu", name_of(shape.activation)));
  }
  return {};
}

}  // namespace

Result<ModelGraph> make_transformer(std::string name,
                                    std::string family,
                                    const TransformerShape& shape) {
  if (auto checked = check_shape(shape); !checked) {
    return pass_on(std::move(checked));
  }
  ModelGraph graph;
  graph.name = std::move(name);
  graph.family = std::move(family);
  graph.shape = shape;
  graph.layers.reserve(static_cast<std::size_t>(shape.layers) + 2);
  graph.layers.push_back(make_embedding(shape));
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    graph.layers.push_back(make_block(shape, i));
  }
  graph.layers.push_back(make_head(shape));
  for (std::size_t i = 1; i < graph.layers.size(); ++i) {
    graph.edges.emplace_back(LayerId(i - 1), LayerId(i));
  }
  return graph;
}

}  // namespace stagewright
