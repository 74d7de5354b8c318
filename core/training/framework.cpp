#include "core/training/framework.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/suggest.h"

namespace stagewright {
namespace {

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return result;
}

void read_switches(JsonReader& reader, FrameworkProfile& framework) {
  const std::array<std::pair<std::string_view, bool*>, 20> switches{{
      {"flash_attention", &framework.flash_attention},
      {"fused_softmax", &framework.fused_softmax},
      {"fused_activation", &framework.fused_activation},
      {"fused_residual", &framework.fused_residual},
      {"fused_norm", &framework.fused_norm},
      {"fused_optimizer", &framework.fused_optimizer},
      {"fused_casts", &framework.fused_casts},
      {"fused_accumulation", &framework.fused_accumulation},
      {"dropout", &framework.dropout},
      {"sequence_parallel", &framework.sequence_parallel},
      {"overlap_gradients", &framework.overlap_gradients},
      {"overlap_gather", &framework.overlap_gather},
      {"overlap_transfers", &framework.overlap_transfers},
      {"scatters_transfers", &framework.scatters_transfers},
      {"overlap_input_gradient", &framework.overlap_input_gradient},
      {"overlap_tensor", &framework.overlap_tensor},
      {"experts_divided_by_tensor", &framework.experts_divided_by_tensor},
      {"broadcasts_by_owner", &framework.broadcasts_by_owner},
      {"balances_stages", &framework.balances_stages},
      {"gradient_32", &framework.gradient_32},
  }};
  for (const auto& [key, value] : switches) {
    *value = reader.boolean(key);
  }
}

AttentionKernel read_kernel(JsonReader& reader, std::string_view key) {
  constexpr std::array kKernels{
      AttentionKernel::kFlash1, AttentionKernel::kFlash2, AttentionKernel::kVendor};
  return kKernels.at(reader.one_of(key, {"flash-1", "flash-2", "vendor"}));
}

}  // namespace

Result<FrameworkProfile> parse_framework(std::string_view text, std::string_view where) {
  auto json = parse_json(text, where);
  if (!json) {
    return pass_on(std::move(json));
  }
  JsonReader reader(*json, std::string(where));
  FrameworkProfile framework;
  framework.name = reader.text("name");
  framework.aliases = reader.texts("aliases");
  framework.description = reader.text("description");
  framework.timing_class = reader.text("timing_class");
  framework.successor = reader.text_or("successor", "");
  read_switches(reader, framework);
  framework.attention_kernel = read_kernel(reader, "attention_kernel");
  if (reader.has("spares_recomputation")) {
    framework.spares_recomputation = reader.boolean("spares_recomputation");
  }
  if (reader.has("dispatches_once_per_node")) {
    framework.dispatches_once_per_node = reader.boolean("dispatches_once_per_node");
  }
  if (reader.has("rotary_attention_kernel")) {
    framework.rotary_attention_kernel = read_kernel(reader, "rotary_attention_kernel");
  }
  const std::string recompute = reader.text("recompute");
  if (const auto named = recompute_named(recompute)) {
    framework.recompute = *named;
  } else {
    reader.reject("recompute", "must be none, selective or full");
  }
  framework.pad_vocabulary = reader.positive_or("pad_vocabulary", 1);
  if (reader.has("gradient_bucket")) {
    framework.gradient_bucket = reader.bytes("gradient_bucket");
    if (framework.gradient_bucket <= Bytes(0)) {
      reader.reject("gradient_bucket", "must be above 0");
    }
  }
  if (!reader.object("memory", [&framework](JsonReader& memory) {
        framework.memory = read_framework_memory(memory);
      })) {
    reader.reject("memory", "is absent; docs/memory.md has its keys");
  }
  framework.sources = reader.texts("sources");
  if (framework.sources.empty()) {
    reader.reject("sources", "names no source; say where these facts come from");
  }
  if (auto done = reader.finish(); !done) {
    return pass_on(std::move(done));
  }
  return framework;
}

Result<FrameworkProfile> find_framework(const DataFiles& files, std::string_view name) {
  const std::string wanted = lower_case(name);
  std::vector<std::string> known;
  for (const std::string& file : files.list("frameworks")) {
    auto framework = parse_framework(files.find(file).value_or(""), files.where(file));
    if (!framework) {
      return framework;
    }
    if (framework->name == wanted ||
        std::ranges::find(framework->aliases, wanted) != framework->aliases.end()) {
      return framework;
    }
    known.push_back(framework->name);
    known.insert(known.end(), framework->aliases.begin(), framework->aliases.end());
  }
  const std::vector<std::string_view> views(known.begin(), known.end());
  return fail(ErrorCode::kNotFound,
              "no framework is called '" + std::string(name) + "'" + suggestion(wanted, views));
}

Result<FrameworkProfile> default_framework(const DataFiles& files) {
  return find_framework(files, "generic");
}

}  // namespace stagewright
