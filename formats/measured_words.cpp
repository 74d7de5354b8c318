#include "formats/measured_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace stagewright {
namespace {

std::string lower(std::string_view words) {
  std::string text(words);
  std::ranges::transform(
      text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Runs of letters and digits, in lower case.
std::vector<std::string> tokens_of(std::string_view words) {
  std::vector<std::string> tokens(1);
  for (const char letter : lower(words)) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0) {
      tokens.back() += letter;
    } else if (!tokens.back().empty()) {
      tokens.emplace_back();
    }
  }
  if (tokens.back().empty()) {
    tokens.pop_back();
  }
  return tokens;
}

bool any_of(const std::vector<std::string>& tokens, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(tokens, [&](const std::string& token) {
    return std::ranges::find(words, std::string_view(token)) != words.end();
  });
}

bool says(std::string_view words, std::string_view word) {
  return words.find(word) != std::string_view::npos;
}

/// The orders that a record may name; what it says behind the name is about the vocabulary.
constexpr std::array<std::string_view, 26> kSchedules{"1f1b",
                                                      "1f1b-interleaved",
                                                      "interleaved",
                                                      "interleaved-1f1b",
                                                      "interleaved_1f1b",
                                                      "gpipe",
                                                      "afab",
                                                      "eager-1f1b",
                                                      "looped-bfs",
                                                      "bfs",
                                                      "zb-h1",
                                                      "zb-h2",
                                                      "zb-1p",
                                                      "zb-2p",
                                                      "zb-v",
                                                      "zbv",
                                                      "zero-bubble",
                                                      "hanayo",
                                                      "v-half",
                                                      "v-min",
                                                      "dualpipe",
                                                      "dualpipe-v",
                                                      "dualpipev",
                                                      "chimera",
                                                      "interleaved-zero-bubble",
                                                      "pipedream-flush"};

}  // namespace

bool read_precision(std::string_view words, TrainingRun& run) {
  const std::vector<std::string> tokens = tokens_of(words);
  if (tokens.empty()) {
    return false;
  }
  if (any_of(tokens, {"fp4", "nvfp4", "mxfp4"})) {
    run.format = MatrixFormat::kFloat4;
  } else if (any_of(tokens, {"fp8", "mxfp8", "float8"})) {
    const bool blocks = any_of(tokens, {"mx", "mxfp8", "block", "blockwise", "blockscaled"});
    run.format = blocks ? MatrixFormat::kFloat8Blocks : MatrixFormat::kFloat8;
  } else if (any_of(tokens, {"tf32"})) {
    run.format = MatrixFormat::kTf32;
  } else if (tokens.front() == "fp32" || tokens.front() == "float32") {
    run.format = MatrixFormat::kFloat32;
  } else if (any_of(tokens, {"bf16", "bfloat16"})) {
    run.format = MatrixFormat::kBFloat16;
  } else if (any_of(tokens, {"fp16", "float16"})) {
    run.format = MatrixFormat::kFloat16;
    run.half_precision = true;
  } else {
    return false;
  }
  if (says(lower(words), "fp32 grad") || any_of(tokens, {"amp"})) {
    run.gradient_32 = true;
  }
  if (any_of(tokens, {"pure"})) {
    run.gradient_32 = false;
  }
  return true;
}

/// The number in "4 layers", "every 2nd layer", "layers=4", "4"; 0 where there is none or a
/// senseless one.
std::int32_t layers_in(const std::vector<std::string>& tokens) {
  for (const std::string& token : tokens) {
    std::int32_t count = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), count);
    if (error == std::errc() && count > 0 && end != token.data()) {
      return count;
    }
  }
  return 0;
}

bool read_recomputed_layers(const std::vector<std::string>& tokens, TrainingRun& run) {
  run.recompute = Recompute::kFull;
  run.recomputed = {};
  const std::int32_t layers = layers_in(tokens);
  if (any_of(tokens, {"every"})) {
    run.recomputed.every = layers;
  } else if (any_of(tokens, {"block"})) {
    run.recomputed.block = layers;
  } else if (any_of(tokens, {"uniform"})) {
    run.recomputed.checkpoint = std::max(layers, 1);
    return true;
  } else {
    return true;
  }
  return layers > 0;
}

bool read_recompute(std::string_view words, TrainingRun& run) {
  const std::vector<std::string> tokens = tokens_of(words);
  if (tokens.empty()) {
    return false;
  }
  const std::string& kind = tokens.front();
  if ((kind == "none" || kind == "off" || kind == "no") && tokens.size() == 1) {
    run.recompute = Recompute::kNone;
  } else if (kind == "full" || (kind == "selective" && any_of(tokens, {"every"}))) {
    TrainingRun read = run;
    if (!read_recomputed_layers(tokens, read)) {
      return false;
    }
    run = std::move(read);
  } else if (kind == "selective") {
    run.recompute = Recompute::kSelective;
    if (any_of(tokens, {"op", "ops"})) {
      run.selective = SelectiveKind::kOperations;
    }
  } else {
    return false;
  }
  return true;
}

bool read_schedule(std::string_view words, TrainingRun& run) {
  const std::string text = lower(words);
  const std::string name = text.substr(0, text.find_first_of(" ,"));
  if (std::ranges::find(kSchedules, name) == kSchedules.end()) {
    return false;
  }
  run.schedule = name;
  if (says(text, "interlaced")) {
    run.vocabulary_placement = VocabularyPlacement::kInterlaced;
  } else if (says(text, "vocab")) {
    run.vocabulary_placement = says(text, "vocab-2") ? VocabularyPlacement::kAllStagesOnce
                                                     : VocabularyPlacement::kAllStages;
  } else if (says(text, "redistributed")) {
    run.vocabulary_placement = VocabularyPlacement::kRedistributed;
  }
  return true;
}

MemoryKind read_memory_kind(std::string_view words) {
  const std::string text = lower(words);
  if (says(text, "last rank")) {
    return MemoryKind::kAllocatedLastStage;
  }
  if (says(text, "nvidia-smi") || says(text, "driver") || says(text, "nvml")) {
    return MemoryKind::kDriver;
  }
  if (says(text, "reserved")) {
    return MemoryKind::kReserved;
  }
  if (says(text, "allocated")) {
    return MemoryKind::kAllocated;
  }
  return MemoryKind::kUnknown;
}

std::optional<double> read_memory_unit(std::string_view words) {
  const std::string text = lower(words);
  if (text == "gib" || text == "gb (mb/1024)") {
    return 1073741824.0;
  }
  if (text == "gb") {
    return 1e9;
  }
  if (text == "mib") {
    return 1048576.0;
  }
  return text == "mb" ? std::optional(1e6) : std::nullopt;
}

std::optional<bool> read_positions(std::string_view words) {
  const std::vector<std::string> tokens = tokens_of(words);
  if (any_of(tokens, {"learned", "absolute"})) {
    return true;
  }
  if (any_of(tokens, {"rope", "rotary", "yarn", "alibi", "none", "relative", "sinusoidal"})) {
    return false;
  }
  return std::nullopt;
}

}  // namespace stagewright
