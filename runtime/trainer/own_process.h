#pragma once

#include <string>

#include "core/base/result.h"
#include "runtime/comm/launch_environment.h"
#include "runtime/compute/cuda_device.h"
#include "runtime/trainer/trainer.h"

namespace stagewright {

/// Makes this process one rank of a run: on the device of CUDA that its local rank numbers, with
/// NCCL to the others.  `cuda.device` is not read.  kUnsupported, saying what is missing and
/// leaving the options as they were, where it cannot be.
[[nodiscard]] Result<void> run_one_rank(RunOptions& options,
                                        const LaunchEnvironment& launch,
                                        CudaOptions cuda = {},
                                        const std::string& nccl_library = {});

}  // namespace stagewright
