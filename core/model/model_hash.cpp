#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/hash.h"
#include "core/model/model_graph.h"

namespace stagewright {
namespace {

using Text = fmt::memory_buffer;

template <class... Args>
void put(Text& text, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
}

void put(Text& text, const LayerWeight& weight) {
  put(text,
      "weight {} {} {}\n",
      weight.name,
      weight.split_axis.value_or(-1),
      weight.tied_to.value_or(""));
  for (const ModelParameter& parameter : weight.parameters) {
    put(text,
        "parameter {} {} {} {} {}\n",
        parameter.name,
        parameter.shape,
        static_cast<int>(parameter.initializer),
        parameter.deviation,
        parameter.decay);
  }
}

void put(Text& text, const LayerOp& op) {
  put(text, "op {} {}", static_cast<int>(op.kind), op.name);
  for (const ValueId input : op.inputs) {
    put(text, " {}", input.value());
  }
  put(text,
      " -> {} {} {} {} {} {} {} {} {}\n",
      op.output ? op.output->value() : -1,
      op.weights,
      static_cast<int>(op.split),
      name_of(op.variant),
      op.heads,
      op.kv_heads,
      op.head_dim,
      op.causal,
      op.scalar);
  if (op.kind == LayerOpKind::kExperts) {
    put(text, "experts per token {}\n", op.experts_per_token);
  }
  if (op.window != OpWindow{}) {
    const OpWindow& window = op.window;
    put(text,
        "window {} {} {} {} {} {}\n",
        window.height,
        window.width,
        window.channels,
        window.kernel,
        window.stride,
        window.padding);
  }
}

void put(Text& text, const Layer& layer) {
  put(text,
      "layer {} {} {} {}\n",
      layer.name,
      static_cast<int>(layer.role),
      layer.input ? layer.input->value() : -1,
      layer.output ? layer.output->value() : -1);
  for (const LayerValue& value : layer.values) {
    put(text, "value {} {} {}\n", value.name, value.width, value.divided);
  }
  for (const LayerOp& op : layer.ops) {
    put(text, op);
  }
  for (const LayerWeight& weight : layer.weights) {
    put(text, weight);
  }
}

}  // namespace

// The layers say everything that a plan or a schedule depends on, except the longest sequence
// of a model without a position table.
std::string model_hash(const ModelGraph& graph) {
  Text text;
  put(text, "sequence {}\n", graph.shape.max_sequence);
  for (const Layer& layer : graph.layers) {
    put(text, layer);
  }
  for (const auto& [from, to] : graph.edges) {
    put(text, "edge {} {}\n", from.value(), to.value());
  }
  return content_hash(fmt::to_string(text));
}

}  // namespace stagewright
