#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/model_sizes.h"

namespace stagewright {

/// Reads the sizes out of a Hugging Face `config.json` of any family in `hf_families()`: dense,
/// grouped-query, mixture-of-experts and latent-attention decoders, BERT, T5.  Exact for counts of
/// parameters and for memory; what can be planned and run is less (parse_hf_config).  Defaults of
/// absent keys are those of the transformers library for that family.  `name` becomes the name.
/// kUnsupported for another family, naming it and the known ones, and for models with several
/// towers (vision and text); kInvalidInput naming file, key and value for sizes that make no model.
[[nodiscard]] Result<ModelSizes> parse_hf_sizes(std::string_view text,
                                                std::string_view where,
                                                std::string name);

/// Values of `model_type` that are read, sorted.
[[nodiscard]] std::vector<std::string_view> hf_families();

}  // namespace stagewright
