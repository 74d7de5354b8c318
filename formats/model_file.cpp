#include "formats/model_file.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/base/json_reader.h"
#include "core/base/suggest.h"
#include "core/model/transformer.h"
#include "core/training/run_sizes.h"
#include "formats/convnet_file.h"
#include "formats/hf_config.h"
#include "formats/hf_sizes.h"

namespace stagewright {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kVersion = 1;

/// The index of the text at `key` among `names`; `fallback` where the key is absent.
std::size_t choice(JsonReader& reader,
                   std::string_view key,
                   const std::vector<std::string_view>& names,
                   std::size_t fallback) {
  return reader.has(key) ? reader.one_of(key, names) : fallback;
}

TransformerShape read_shape(JsonReader& reader, bool llama) {
  TransformerShape shape;
  shape.layers = reader.count("layers");
  shape.hidden = reader.count("hidden");
  shape.heads = reader.count("heads");
  shape.kv_heads = reader.positive_or("kv_heads", shape.heads);
  if (reader.has("head_dim")) {
    shape.head_dim = reader.count("head_dim");
  } else if (!reader.failed() && shape.hidden % shape.heads != 0) {
    reader.reject("heads",
                  fmt::format("is {}, which does not divide hidden {}; correct one of them or add "
                              "'head_dim'",
                              shape.heads,
                              shape.hidden));
  } else if (!reader.failed()) {
    shape.head_dim = shape.hidden / shape.heads;
  }
  shape.feed_forward =
      llama ? reader.count("feed_forward") : reader.positive_or("feed_forward", 4 * shape.hidden);
  shape.vocabulary = reader.count("vocabulary");
  shape.max_sequence = reader.count("max_sequence");

  static constexpr OpVariant kNorms[] = {OpVariant::kLayerNorm, OpVariant::kRmsNorm};
  shape.norm = kNorms[choice(reader, "norm", {"layer-norm", "rms-norm"}, llama ? 1 : 0)];
  static constexpr OpVariant kActivations[] = {
      OpVariant::kGelu, OpVariant::kSwiGlu, OpVariant::kRelu};
  shape.activation =
      kActivations[choice(reader, "activation", {"gelu", "swiglu", "relu"}, llama ? 1 : 0)];
  shape.learned_positions = choice(reader, "positions", {"learned", "rotary"}, llama ? 1 : 0) == 0;
  shape.rope_theta = reader.number_or("rope_theta", shape.rope_theta);
  shape.norm_epsilon = reader.number_or("norm_epsilon", shape.norm_epsilon);
  shape.biases = reader.boolean_or("biases", !llama);
  shape.qkv_bias = reader.boolean_or("qkv_bias", shape.biases);
  shape.tied_embeddings = reader.boolean_or("tied_embeddings", !llama);
  shape.post_norm = choice(reader, "norm_position", {"pre", "post"}, 0) == 1;
  shape.causal = choice(reader, "attention", {"causal", "bidirectional"}, 0) == 0;
  static constexpr LayerOpKind kLosses[] = {LayerOpKind::kCrossEntropy, LayerOpKind::kSquaredError};
  shape.loss = kLosses[choice(reader, "loss", {"cross-entropy", "squared-error"}, 0)];
  shape.dropout = reader.number_or("dropout", shape.dropout);
  shape.experts = reader.positive_or("experts", shape.experts);
  shape.experts_per_token = reader.positive_or("experts_per_token", shape.experts_per_token);
  shape.balance = reader.number_or("balance", shape.balance);
  return shape;
}

bool is_model_file(const nlohmann::json& json) {
  return json.is_object() && json.contains("family");
}

/// The text that a user's name leads to.
struct ModelText {
  std::string text;
  std::string where;
  std::string name;     ///< for a config.json, which has none of its own
  bool is_own = false;  ///< a model file of ours, else a config.json
};

Result<ModelText> read_model(const fs::path& path) {
  auto content = read_file(path);
  if (!content) {
    return pass_on(std::move(content));
  }
  auto json = parse_json(*content, path.string());
  if (!json) {
    return pass_on(std::move(json));
  }
  const fs::path folder = fs::absolute(path).lexically_normal().parent_path().filename();
  const bool generic = path.filename() == "config.json" && !folder.empty();
  return ModelText{.text = *std::move(content),
                   .where = path.string(),
                   .name = generic ? folder.string() : path.stem().string(),
                   .is_own = is_model_file(*json)};
}

/// Name and aliases of a preset.
Result<std::vector<std::string>> names_of(const DataFiles& files, const std::string& file) {
  auto json = parse_json(*files.find(file), files.where(file));
  if (!json) {
    return pass_on(std::move(json));
  }
  JsonReader reader(*json, files.where(file));
  std::vector<std::string> names = {reader.text("name")};
  for (std::string& alias : reader.texts("aliases")) {
    names.push_back(std::move(alias));
  }
  if (reader.failed()) {
    return pass_on(reader.finish());
  }
  return names;
}

Result<ModelText> locate(const DataFiles& files, std::string_view name) {
  std::vector<std::string> known;
  for (const std::string& file : files.list("models")) {
    auto names = names_of(files, file);
    if (!names) {
      return pass_on(std::move(names));
    }
    if (std::ranges::find(*names, name) != names->end()) {
      return ModelText{.text = std::string(*files.find(file)),
                       .where = files.where(file),
                       .name = {},
                       .is_own = true};
    }
    known.insert(known.end(), names->begin(), names->end());
  }
  const fs::path path(name);
  std::error_code code;
  if (fs::is_directory(path, code)) {
    return read_model(path / "config.json");
  }
  if (fs::exists(path, code) || name.ends_with(".json") ||
      name.find('/') != std::string_view::npos) {
    return read_model(path);
  }
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  return fail(ErrorCode::kNotFound,
              fmt::format("'{}' is neither a known model nor the path of a config.json{}",
                          name,
                          suggestion(name, candidates)));
}

Result<ModelGraph> finish_convnet(JsonReader& reader, std::string name, std::string_view where) {
  const ConvNetShape shape = read_convnet(reader);
  if (auto done = reader.finish(); !done) {
    return pass_on(std::move(done));
  }
  auto graph = make_convnet(std::move(name), shape);
  if (!graph) {
    graph.error().where = where;
  }
  return graph;
}

}  // namespace

Result<ModelGraph> parse_model_file(std::string_view text, std::string_view where) {
  auto json = parse_json(text, where);
  if (!json) {
    return pass_on(std::move(json));
  }
  JsonReader reader(*json, std::string(where));
  const std::int64_t version = reader.integer_or("version", kVersion);
  if (!reader.failed() && version != kVersion) {
    reader.reject("version",
                  fmt::format("is {}; this program reads version {}", version, kVersion));
  }
  std::string name = reader.text("name");
  (void)reader.texts("aliases");
  reader.ignore("description");
  reader.ignore("source");
  static const std::vector<std::string_view> kFamilies = {"gpt2", "llama", "convnet"};
  const std::size_t family = reader.one_of("family", kFamilies);
  if (!reader.failed() && kFamilies[family] == "convnet") {
    return finish_convnet(reader, std::move(name), where);
  }
  const TransformerShape shape = read_shape(reader, kFamilies[family] == "llama");
  if (auto done = reader.finish(); !done) {
    return pass_on(std::move(done));
  }
  auto graph = make_transformer(std::move(name), std::string(kFamilies[family]), shape);
  if (!graph) {
    graph.error().where = where;
  }
  return graph;
}

Result<ModelGraph> find_model(const DataFiles& files, std::string_view name) {
  auto found = locate(files, name);
  if (!found) {
    return pass_on(std::move(found));
  }
  return found->is_own ? parse_model_file(found->text, found->where)
                       : parse_hf_config(found->text, found->where, found->name);
}

Result<ModelSizes> find_model_sizes(const DataFiles& files, std::string_view name) {
  auto found = locate(files, name);
  if (!found) {
    return pass_on(std::move(found));
  }
  if (!found->is_own) {
    return parse_hf_sizes(found->text, found->where, found->name);
  }
  auto graph = parse_model_file(found->text, found->where);
  if (!graph) {
    return pass_on(std::move(graph));
  }
  if (sees_images(*graph)) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("'{}' is a convolutional network; the closed form of sizes knows "
                            "transformers, `plan` and `simulate` price a network's lists",
                            graph->name),
                std::string(name));
  }
  return sizes_of(graph->name, graph->family, graph->shape);
}

}  // namespace stagewright
