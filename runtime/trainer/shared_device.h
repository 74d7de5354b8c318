#pragma once

#include "core/base/result.h"
#include "runtime/compute/cuda_device.h"
#include "runtime/trainer/trainer.h"

namespace stagewright {

/// Lets all ranks of a run compute on one device of CUDA and communicate through its memory.
/// kUnsupported, saying what is missing and leaving the options as they were, where it cannot be.
[[nodiscard]] Result<void> share_cuda_device(RunOptions& options, const CudaOptions& cuda = {});

}  // namespace stagewright
