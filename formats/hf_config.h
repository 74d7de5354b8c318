#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/model/model_graph.h"

namespace stagewright {

/// Reads a Hugging Face `config.json` of a decoder-only model whose layers are exactly those of
/// make_transformer: the families llama, mistral, qwen2 and gpt2 (docs/formats/hf_config.md has
/// the keys and their defaults).  Keys that do not change the layers (token ids, dtype, rope
/// scaling, quantization, dropout) are passed over; null counts as absent.
/// `name` becomes the model's name.  kUnsupported for another architecture, naming it and the
/// supported ones; kInvalidInput naming file, key and value for sizes that make no model.
[[nodiscard]] Result<ModelGraph> parse_hf_config(std::string_view text,
                                                 std::string_view where,
                                                 std::string name);

}  // namespace stagewright
