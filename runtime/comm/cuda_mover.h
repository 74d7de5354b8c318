#pragma once

#include <memory>

#include "core/base/result.h"
#include "runtime/comm/data_mover.h"
#include "runtime/compute/cuda_device.h"

namespace stagewright {

/// For memory of one device of CUDA, so that several ranks can share it, which NCCL refuses.  One
/// transfer at a time, for which a thread of the host waits.  kUnsupported as make_cuda_device.
[[nodiscard]] Result<std::shared_ptr<DataMover>> make_cuda_mover(const CudaOptions& options);

}  // namespace stagewright
