#include "core/model/model_graph.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <string_view>
#include <utility>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/check.h"

namespace stagewright {
namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

Result<Graph> to_boost(const ModelGraph& model) {
  Graph graph(model.layers.size());
  for (const auto& [from, to] : model.edges) {
    for (const LayerId end : {from, to}) {
      if (end.value() < 0 || end.index() >= model.layers.size()) {
        return fail(ErrorCode::kInvalidInput,
                    fmt::format("model '{}' has an edge to layer {}, but {} layers",
                                model.name,
                                end.value(),
                                model.layers.size()));
      }
    }
    boost::add_edge(from.index(), to.index(), graph);
  }
  return graph;
}

/// Names of the layers that lie on cycles.
std::vector<std::string_view> layers_on_cycles(const ModelGraph& model, const Graph& graph) {
  std::vector<int> component(model.layers.size());
  boost::strong_components(
      graph, boost::make_iterator_property_map(component.begin(), get(boost::vertex_index, graph)));
  std::map<int, std::size_t> sizes;
  for (const int c : component) {
    ++sizes[c];
  }
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < component.size(); ++i) {
    if (sizes[component[i]] > 1 || boost::edge(i, i, graph).second) {
      names.emplace_back(model.layers[i].name);
    }
  }
  return names;
}

/// Kahn's algorithm with the smallest free id first.
Result<std::vector<LayerId>> order_of(const ModelGraph& model, const Graph& graph) {
  std::vector<std::size_t> waiting_for(model.layers.size());
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> free;
  for (std::size_t v = 0; v < waiting_for.size(); ++v) {
    waiting_for[v] = boost::in_degree(v, graph);
    if (waiting_for[v] == 0) {
      free.push(v);
    }
  }
  std::vector<LayerId> order;
  order.reserve(model.layers.size());
  while (!free.empty()) {
    const std::size_t v = free.top();
    free.pop();
    order.emplace_back(v);
    for (auto [next, end] = boost::adjacent_vertices(v, graph); next != end; ++next) {
      if (--waiting_for[*next] == 0) {
        free.push(*next);
      }
    }
  }
  if (order.size() != model.layers.size()) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("the layers of model '{}' form a cycle: {}",
                            model.name,
                            fmt::join(layers_on_cycles(model, graph), ", ")));
  }
  return order;
}

std::int64_t elements_of(const ModelParameter& parameter) {
  std::int64_t count = 1;
  for (const std::int64_t extent : parameter.shape) {
    count *= extent;
  }
  return count;
}

std::int64_t elements_of(const LayerWeight& weight) {
  std::int64_t count = 0;
  for (const ModelParameter& parameter : weight.parameters) {
    count += elements_of(parameter);
  }
  return count;
}

}  // namespace

Result<std::vector<LayerId>> topological_order(const ModelGraph& graph) {
  auto built = to_boost(graph);
  if (!built) {
    return pass_on(std::move(built));
  }
  return order_of(graph, *built);
}

std::vector<LayerId> critical_path(const ModelGraph& graph, const std::vector<double>& weight) {
  SW_CHECK(weight.size() == graph.layers.size(), "one weight per layer");
  const auto built = to_boost(graph);
  SW_CHECK(built.has_value(), "edges between the model's layers");
  const auto order = order_of(graph, *built);
  SW_CHECK(order.has_value(), "a model without cycles");

  std::vector<double> length(weight);
  std::vector<std::optional<std::size_t>> before(weight.size());
  std::optional<std::size_t> last;
  for (const LayerId layer : *order) {
    const std::size_t v = layer.index();
    for (auto [edge, end] = boost::in_edges(v, *built); edge != end; ++edge) {
      const std::size_t from = boost::source(*edge, *built);
      if (!before[v] || length[from] > length[*before[v]]) {
        before[v] = from;
      }
    }
    if (before[v]) {
      length[v] += length[*before[v]];
    }
    if (!last || length[v] > length[*last]) {
      last = v;
    }
  }
  std::vector<LayerId> path;
  for (std::optional<std::size_t> v = last; v; v = before[*v]) {
    path.emplace_back(*v);
  }
  std::ranges::reverse(path);
  return path;
}

Result<std::vector<std::size_t>> single_value_cuts(const ModelGraph& graph) {
  auto built = to_boost(graph);
  if (!built) {
    return pass_on(std::move(built));
  }
  auto order = order_of(graph, *built);
  if (!order) {
    return pass_on(std::move(order));
  }
  std::vector<std::size_t> position(graph.layers.size());
  for (std::size_t k = 0; k < order->size(); ++k) {
    position[(*order)[k].index()] = k;
  }
  // A layer has one output, which crosses the cuts between it and its last consumer.
  std::vector<std::ptrdiff_t> change(graph.layers.size() + 1, 0);
  for (std::size_t v = 0; v < graph.layers.size(); ++v) {
    std::size_t last_use = position[v];
    for (auto [next, end] = boost::adjacent_vertices(v, *built); next != end; ++next) {
      last_use = std::max(last_use, position[*next]);
    }
    if (last_use > position[v]) {
      ++change[position[v] + 1];
      --change[last_use + 1];
    }
  }
  std::vector<std::size_t> cuts;
  std::ptrdiff_t crossing = 0;
  for (std::size_t k = 1; k < graph.layers.size(); ++k) {
    crossing += change[k];
    if (crossing == 1) {
      cuts.push_back(k);
    }
  }
  return cuts;
}

bool sees_images(const ModelGraph& graph) {
  return std::ranges::any_of(graph.layers, [](const Layer& layer) {
    return std::ranges::find(layer.ops, LayerOpKind::kImage, &LayerOp::kind) != layer.ops.end();
  });
}

std::int64_t parameter_count(const Layer& layer) {
  std::int64_t count = 0;
  for (const LayerWeight& weight : layer.weights) {
    if (!weight.tied_to) {
      count += elements_of(weight);
    }
  }
  return count;
}

std::int64_t parameter_count(const ModelGraph& graph) {
  std::int64_t count = 0;
  for (const Layer& layer : graph.layers) {
    count += parameter_count(layer);
  }
  return count;
}

Flops model_flops(const ModelGraph& graph, std::int64_t tokens, std::int64_t sequence) {
  SW_CHECK(tokens >= 0 && sequence >= 1, "a number of tokens in sequences of at least one");
  Flops forward(0);
  for (const Layer& layer : graph.layers) {
    for (const LayerOp& op : layer.ops) {
      if (op.kind == LayerOpKind::kLinear) {
        forward += Flops(2.0 * static_cast<double>(tokens) *
                         static_cast<double>(elements_of(layer.weights[op.weights.front()])));
      } else if (op.kind == LayerOpKind::kConvolution) {
        const double images = static_cast<double>(tokens);
        const LayerWeight& matrix = layer.weights[op.weights.front()];
        forward += Flops(2.0 * images * static_cast<double>(op.window.out_pixels()) *
                         static_cast<double>(elements_of(matrix)));
      } else if (op.kind == LayerOpKind::kExperts) {
        const auto experts = static_cast<double>(layer.values[op.inputs.back().index()].width);
        for (const std::size_t weight : op.weights) {
          forward += Flops(2.0 * static_cast<double>(tokens * op.experts_per_token) *
                           static_cast<double>(elements_of(layer.weights[weight])) / experts);
        }
      } else if (op.kind == LayerOpKind::kAttention) {
        OpShape one;
        one.sequence = sequence;
        one.heads = op.heads;
        one.kv_heads = op.kv_heads;
        one.head_dim = op.head_dim;
        const double sequences = static_cast<double>(tokens) / static_cast<double>(sequence);
        forward +=
            flops_of(OpKind::kAttentionForward, OpVariant::kNone, one, op.causal) * sequences;
      }
    }
  }
  return forward * 3.0;  // the backward pass has two products for each one of the forward
}

}  // namespace stagewright
