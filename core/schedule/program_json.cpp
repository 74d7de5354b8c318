#include "core/schedule/program_json.h"

#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/schedule/operation_json.h"
#include "core/schedule/read_ids.h"
#include "core/schedule/write_ids.h"

namespace stagewright {

using nlohmann::ordered_json;

namespace {

constexpr std::array kBorders{std::pair("input", &StageProgram::input),
                              std::pair("output", &StageProgram::output),
                              std::pair("output_gradient", &StageProgram::output_gradient),
                              std::pair("input_gradient", &StageProgram::input_gradient),
                              std::pair("tokens", &StageProgram::tokens),
                              std::pair("targets", &StageProgram::targets)};

constexpr std::array kScopes{std::string_view("persistent"), std::string_view("micro-batch")};
constexpr std::array kInitializers{
    std::string_view("normal"), std::string_view("ones"), std::string_view("zeros")};

template <std::size_t kCount>
std::vector<std::string_view> list_of(const std::array<std::string_view, kCount>& names) {
  return {names.begin(), names.end()};
}

template <class AnyId>
void write_if(ordered_json& json, const char* key, const std::optional<AnyId>& id) {
  if (id) {
    json[key] = id->value();
  }
}

/// Empty lists are left out.
void write_list(ordered_json& json, const char* key, ordered_json list) {
  if (!list.empty()) {
    json[key] = std::move(list);
  }
}

// Tensors.

ordered_json to_json(const TensorSpec& tensor) {
  ordered_json json = {{"name", tensor.name},
                       {"dtype", name_of(tensor.dtype)},
                       {"shape", tensor.shape},
                       {"class", name_of(tensor.tensor_class)},
                       {"scope", kScopes[static_cast<std::size_t>(tensor.scope)]}};
  if (tensor.view) {
    json["view"] = {{"base", tensor.view->base.value()}, {"offset", tensor.view->offset}};
    if (tensor.view->group) {
      json["view"]["group"] = tensor.view->group->value();
      json["view"]["stride"] = tensor.view->stride;
    }
  }
  return json;
}

TensorSpec read_tensor(JsonReader& reader) {
  static const std::vector<std::string_view> kClasses = [] {
    std::vector<std::string_view> names;
    names.reserve(kTensorClassCount);
    for (int i = 0; i < kTensorClassCount; ++i) {
      names.push_back(name_of(static_cast<TensorClass>(i)));
    }
    return names;
  }();
  TensorSpec tensor;
  tensor.name = reader.text("name");
  const auto type = parse_dtype(reader.text("dtype"));
  if (!type) {
    reader.reject("dtype", type.error().message);
  }
  tensor.dtype = type.value_or(DType::kFloat32);
  tensor.shape = reader.integers("shape");
  tensor.tensor_class = static_cast<TensorClass>(reader.one_of("class", kClasses));
  tensor.scope = static_cast<TensorScope>(reader.one_of("scope", list_of(kScopes)));
  reader.object("view", [&](JsonReader& view) {
    tensor.view = TensorSpec::View{read_id<TensorId>(view, "base"), view.integer("offset")};
    if (view.has("group")) {
      tensor.view->group = read_id<GroupSlot>(view, "group");
      tensor.view->stride = view.integer("stride");
    }
  });
  return tensor;
}

// Parameters.

ordered_json to_json(const ParameterSlice& parameter) {
  ordered_json json = {{"name", parameter.name}, {"global_shape", parameter.global_shape}};
  if (parameter.shard_axis) {
    json["shard_axis"] = *parameter.shard_axis;
  }
  write_if(json, "shard_group", parameter.shard_group);
  json["extent"] = parameter.extent;
  json["weight"] = parameter.weight.value();
  json["weight_offset"] = parameter.weight_offset;
  json["gradient"] = parameter.gradient.value();
  json["initializer"] = kInitializers[static_cast<std::size_t>(parameter.initializer)];
  json["deviation"] = parameter.deviation;
  json["decay"] = parameter.decay;
  json["copies"] = parameter.copies;
  write_if(json, "bucket", parameter.bucket);
  if (parameter.flat_shard) {
    json["flat_shard"] = {{"group", parameter.flat_shard->group.value()},
                          {"stride", parameter.flat_shard->stride}};
  }
  if (parameter.tied_to) {
    json["tied_to"] = *parameter.tied_to;
  }
  json["versions"] = 1 + parameter.other_versions.size();
  if (!parameter.other_versions.empty()) {
    json["other_versions"] = write_ids(parameter.other_versions);
  }
  return json;
}

ParameterSlice read_parameter(JsonReader& reader) {
  ParameterSlice parameter;
  parameter.name = reader.text("name");
  parameter.global_shape = reader.integers("global_shape");
  if (reader.has("shard_axis")) {
    parameter.shard_axis = read_index(reader, "shard_axis");
  }
  parameter.shard_group = read_id_if<GroupSlot>(reader, "shard_group");
  parameter.extent = reader.integer("extent");
  parameter.weight = read_id<TensorId>(reader, "weight");
  parameter.weight_offset = reader.integer("weight_offset");
  parameter.gradient = read_id<TensorId>(reader, "gradient");
  parameter.initializer =
      static_cast<Initializer>(reader.one_of("initializer", list_of(kInitializers)));
  parameter.deviation = reader.number("deviation");
  parameter.decay = reader.boolean("decay");
  parameter.copies = reader.number("copies");
  parameter.bucket = read_id_if<BucketId>(reader, "bucket");
  reader.object("flat_shard", [&](JsonReader& shard) {
    parameter.flat_shard =
        ParameterSlice::FlatShard{read_id<GroupSlot>(shard, "group"), shard.integer("stride")};
  });
  if (reader.has("tied_to")) {
    parameter.tied_to = reader.text("tied_to");
  }
  if (reader.has("other_versions")) {
    parameter.other_versions = read_ids<TensorId>(reader, "other_versions");
  }
  const auto versions = static_cast<std::size_t>(read_index(reader, "versions"));
  if (!reader.failed() && versions != 1 + parameter.other_versions.size()) {
    reader.reject("versions", "is not one more than the number of other_versions");
  }
  return parameter;
}

// Stages and buckets.

ordered_json to_json(const StageProgram& stage) {
  ordered_json json = {{"stage", stage.stage.value()}};
  if (stage.version != 0) {
    json["version"] = stage.version;
  }
  for (const auto& [name, border] : kBorders) {
    write_if(json, name, stage.*border);
  }
  write_list(json, "forward", to_json(stage.forward));
  write_list(json, "backward", to_json(stage.backward));
  write_list(json, "recompute", to_json(stage.recompute));
  write_list(json, "update", to_json(stage.update));
  return json;
}

StageProgram read_stage(JsonReader& reader) {
  StageProgram stage;
  stage.stage = read_id<StageId>(reader, "stage");
  if (reader.has("version")) {
    stage.version = read_index(reader, "version");
  }
  for (const auto& [name, border] : kBorders) {
    stage.*border = read_id_if<TensorId>(reader, name);
  }
  stage.forward = read_operations(reader, "forward");
  stage.backward = read_operations(reader, "backward");
  stage.recompute = read_operations(reader, "recompute");
  stage.update = read_operations(reader, "update");
  return stage;
}

ordered_json to_json(const GradientBucket& bucket) {
  ordered_json json = {{"storage", bucket.storage.value()}, {"stage", bucket.stage.value()}};
  write_list(json, "reduce", to_json(bucket.reduce));
  write_list(json, "gather", to_json(bucket.gather));
  return json;
}

GradientBucket read_bucket(JsonReader& reader) {
  GradientBucket bucket;
  bucket.storage = read_id<TensorId>(reader, "storage");
  bucket.stage = read_id<StageId>(reader, "stage");
  bucket.reduce = read_operations(reader, "reduce");
  bucket.gather = read_operations(reader, "gather");
  return bucket;
}

// Actions.

std::string action_text(const std::vector<Action>& actions) {
  std::string text;
  for (const Action& action : actions) {
    if (!text.empty()) {
      text += ' ';
    }
    text += to_string(action);
    if (is_send(action.kind) || is_receive(action.kind)) {
      text += fmt::format("@{}", action.peer.value());
    }
  }
  return text;
}

std::vector<Action> read_actions(JsonReader& reader, std::string_view key) {
  std::vector<Action> actions;
  const std::string text = reader.text(key);
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view token = rest.substr(0, rest.find(' '));
    const auto action = parse_action(token);
    if (!action) {
      reader.reject(
          key,
          fmt::format("action {} is '{}'; expected one such as 0F3, 1SEND_F3@0, REDUCE2 or STEP, "
                      "separated by one space",
                      actions.size(),
                      token.substr(0, 40)));
      return {};
    }
    actions.push_back(*action);
    rest.remove_prefix(std::min(rest.size(), token.size() + 1));
  }
  return actions;
}

template <class T>
ordered_json array_of(const std::vector<T>& items) {
  ordered_json array = ordered_json::array();
  for (const T& item : items) {
    array.push_back(to_json(item));
  }
  return array;
}

template <class T>
std::vector<T> read_all(JsonReader& reader, std::string_view key, T (*read)(JsonReader&)) {
  std::vector<T> items;
  reader.objects(key, [&](JsonReader& inner) { items.push_back(read(inner)); });
  return items;
}

}  // namespace

ordered_json to_json(const RankProgram& program) {
  ordered_json json;
  write_list(json, "tensors", array_of(program.tensors));
  write_list(json, "parameters", array_of(program.parameters));
  write_list(json, "stages", array_of(program.stages));
  write_list(json, "buckets", array_of(program.buckets));
  write_list(json, "optimizer_step", to_json(program.optimizer_step));
  write_if(json, "totals", program.totals);
  json["actions"] = action_text(program.actions);
  return json;
}

RankProgram read_program(JsonReader& reader) {
  RankProgram program;
  program.tensors = read_all(reader, "tensors", read_tensor);
  program.parameters = read_all(reader, "parameters", read_parameter);
  program.stages = read_all(reader, "stages", read_stage);
  program.buckets = read_all(reader, "buckets", read_bucket);
  program.optimizer_step = read_operations(reader, "optimizer_step");
  program.totals = read_id_if<TensorId>(reader, "totals");
  program.actions = read_actions(reader, "actions");
  return program;
}

}  // namespace stagewright
