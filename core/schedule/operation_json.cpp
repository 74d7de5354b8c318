#include "core/schedule/operation_json.h"

#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/schedule/read_ids.h"
#include "core/schedule/window_sizes.h"
#include "core/schedule/write_ids.h"

namespace stagewright {

using nlohmann::ordered_json;

namespace {

constexpr std::array kFlags{std::pair("transpose_a", &Operation::transpose_a),
                            std::pair("transpose_b", &Operation::transpose_b),
                            std::pair("accumulate", &Operation::accumulate),
                            std::pair("causal", &Operation::causal),
                            std::pair("weight_gradient", &Operation::weight_gradient),
                            std::pair("decay", &Operation::decay)};

constexpr std::array kSizes{std::pair("rows", &OpShape::rows),
                            std::pair("cols", &OpShape::cols),
                            std::pair("inner", &OpShape::inner),
                            std::pair("batch", &OpShape::batch),
                            std::pair("sequence", &OpShape::sequence),
                            std::pair("heads", &OpShape::heads),
                            std::pair("kv_heads", &OpShape::kv_heads),
                            std::pair("head_dim", &OpShape::head_dim)};

OpKind read_kind(JsonReader& reader) {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> all;
    all.reserve(kOpKindCount);
    for (int i = 0; i < kOpKindCount; ++i) {
      all.push_back(name_of(static_cast<OpKind>(i)));
    }
    return all;
  }();
  return static_cast<OpKind>(reader.one_of("kind", kNames));
}

OpVariant read_variant(JsonReader& reader) {
  const std::string name = reader.text("variant");
  const auto variant = op_variant_named(name);
  if (!variant && !reader.failed()) {
    reader.reject("variant", fmt::format("'{}' is not known", name));
  }
  return variant.value_or(OpVariant::kNone);
}

DType read_dtype(JsonReader& reader, std::string_view key) {
  const auto type = parse_dtype(reader.text(key));
  if (!type && !reader.failed()) {
    reader.reject(key, type.error().message);
  }
  return type.value_or(DType::kFloat32);
}

Operation read_operation(JsonReader& reader) {
  Operation op;
  op.kind = read_kind(reader);
  if (reader.has("variant")) {
    op.variant = read_variant(reader);
  }
  op.dtype = read_dtype(reader, "dtype");
  if (reader.has("source")) {
    op.source = read_dtype(reader, "source");
  }
  op.stream = read_id_if<StreamId>(reader, "stream").value_or(kComputeStream);
  for (const auto& [name, flag] : kFlags) {
    op.*flag = reader.boolean_or(name, false);
  }
  reader.object("shape", [&](JsonReader& shape) {
    for (const auto& [name, size] : kSizes) {
      op.shape.*size = shape.integer_or(name, 1);
    }
    shape.object("window", [&](JsonReader& window) {
      for (const auto& [name, size] : kWindowSizes) {
        const std::int32_t usual = OpWindow{}.*size;
        const std::int64_t read = window.integer_or(name, usual);
        if (read < 0 || read > std::numeric_limits<std::int32_t>::max()) {
          window.reject(name, fmt::format("is {}; it must be 0 or more, and below 2^31", read));
        } else {
          op.shape.window.*size = static_cast<std::int32_t>(read);
        }
      }
    });
  });
  op.index = reader.integer_or("index", 0);
  reader.object("slice", [&](JsonReader& slice) {
    op.slice = Operation::Slice{
        read_id_if<GroupSlot>(slice, "group"), slice.integer("stride"), slice.integer("total")};
  });
  op.scalar = reader.number_or("scalar", 0);
  op.inputs = read_ids<TensorId>(reader, "in");
  op.outputs = read_ids<TensorId>(reader, "out");
  op.group = read_id_if<GroupSlot>(reader, "group");
  op.layer = read_id_if<LayerId>(reader, "layer");
  return op;
}

}  // namespace

ordered_json to_json(const Operation& op) {
  ordered_json json = {{"kind", name_of(op.kind)}};
  if (op.variant != OpVariant::kNone) {
    json["variant"] = name_of(op.variant);
  }
  json["dtype"] = name_of(op.dtype);
  if (op.source) {
    json["source"] = name_of(*op.source);
  }
  if (op.stream != kComputeStream) {
    json["stream"] = op.stream.value();
  }
  for (const auto& [name, flag] : kFlags) {
    if (op.*flag) {
      json[name] = true;
    }
  }
  for (const auto& [name, size] : kSizes) {
    if (op.shape.*size != 1) {
      json["shape"][name] = op.shape.*size;
    }
  }
  for (const auto& [name, size] : kWindowSizes) {
    if (op.shape.window.*size != OpWindow{}.*size) {
      json["shape"]["window"][name] = op.shape.window.*size;
    }
  }
  if (op.index != 0) {
    json["index"] = op.index;
  }
  if (op.slice) {
    ordered_json& slice = json["slice"];
    if (op.slice->group) {
      slice["group"] = op.slice->group->value();
    }
    slice["stride"] = op.slice->stride;
    slice["total"] = op.slice->total;
  }
  if (op.scalar != 0) {
    json["scalar"] = op.scalar;
  }
  json["in"] = write_ids(op.inputs);
  json["out"] = write_ids(op.outputs);
  if (op.group) {
    json["group"] = op.group->value();
  }
  if (op.layer) {
    json["layer"] = op.layer->value();
  }
  return json;
}

ordered_json to_json(const std::vector<Operation>& ops) {
  ordered_json array = ordered_json::array();
  for (const Operation& op : ops) {
    array.push_back(to_json(op));
  }
  return array;
}

std::vector<Operation> read_operations(JsonReader& reader, std::string_view key) {
  std::vector<Operation> ops;
  reader.objects(key, [&](JsonReader& inner) { ops.push_back(read_operation(inner)); });
  return ops;
}

}  // namespace stagewright
