#pragma once

#include <cstddef>

#include "runtime/comm/element_type.h"

namespace stagewright {

/// sum[i] = sum[i] + in[i], or the larger of the two (a NaN wins, so that it is not hidden;
/// int32 sums wrap; 16-bit types are added as float and rounded).  The arrays do not overlap.
/// REQUIRES: type is not kByte.
void accumulate(
    ElementType type, Reduction reduction, void* sum, const void* in, std::size_t count);

}  // namespace stagewright
