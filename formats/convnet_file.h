#pragma once

#include "core/base/json_reader.h"
#include "core/model/convnet.h"

namespace stagewright {

/// The sizes of a model file of the family "convnet" (docs/adding_a_model.md): `image`, `classes`
/// and `layers`.  Errors are the reader's.
[[nodiscard]] ConvNetShape read_convnet(JsonReader& reader);

}  // namespace stagewright
