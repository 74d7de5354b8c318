#pragma once

#include "core/base/dtype.h"
#include "runtime/compute/operands.h"
#include "runtime/compute/operation_kernels.h"

namespace stagewright {

/// Runs an operation as the kernels of a device.  Two-column operands (statistics of a layer norm,
/// sums of the loss) lie as two columns one after the other.  REQUIRES: no collective; operands are
/// fp32 or int32, those of a kCopy as it says.
void run_operation(const Operands& with, const UpdateStep& step, OperationKernels& on);

/// A kEmbeddingForward of a 16-bit table: moves rows as they are.
void run_narrow_embedding(const Operands& with, OperationKernels& on);

/// Whether kCopy can convert from one type to the other.
[[nodiscard]] bool converts(DType from, DType to);

}  // namespace stagewright
