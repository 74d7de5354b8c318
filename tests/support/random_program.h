#pragma once

#include <random>

#include "core/schedule/rank_program.h"

namespace stagewright {

/// A rank program whose operations and actions make no sense as training, but whose indices are
/// right: random stages, tensors of both scopes (some of them windows), operations in place, with
/// and without accumulation, split backwards, sends, receives, buckets.  For property tests of what
/// must hold for every program.
[[nodiscard]] RankProgram random_program(std::mt19937_64& random);

}  // namespace stagewright
