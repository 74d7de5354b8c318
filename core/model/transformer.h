#pragma once

#include <string>

#include "core/base/result.h"
#include "core/model/model_graph.h"

namespace stagewright {

/// The layers of a transformer of equal blocks, pre- or post-norm, causal or not: embedding,
/// `layers` blocks, head (final norm, vocabulary projection, loss).  Fails, naming the field, when
/// a size is not positive or the heads are not divisible by the kv heads.
[[nodiscard]] Result<ModelGraph> make_transformer(std::string name,
                                                  std::string family,
                                                  const TransformerShape& shape);

}  // namespace stagewright
