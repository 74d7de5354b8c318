#pragma once

#include <string_view>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "core/model/model_graph.h"
#include "core/model/model_sizes.h"

namespace stagewright {

/// The model that a user names: a preset of profiles/models by name or alias ("llama3-70b"), the
/// path of a model file or of a Hugging Face config.json, or a folder that holds a config.json.
/// kNotFound with the nearest known name otherwise.
[[nodiscard]] Result<ModelGraph> find_model(const DataFiles& files, std::string_view name);

/// The sizes of the model that a user names, for counts and memory: as find_model, and besides the
/// families of parse_hf_sizes.  kUnsupported for convolutional networks.
[[nodiscard]] Result<ModelSizes> find_model_sizes(const DataFiles& files, std::string_view name);

/// Our own model file (docs/adding_a_model.md): name, family and sizes.  What is left out follows
/// from the family ("gpt2" or "llama"), of a "convnet" each layer is given; unknown keys are
/// errors.
[[nodiscard]] Result<ModelGraph> parse_model_file(std::string_view text, std::string_view where);

}  // namespace stagewright
