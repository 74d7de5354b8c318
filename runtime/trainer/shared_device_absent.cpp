#include "runtime/trainer/shared_device.h"

namespace stagewright {

Result<void> share_cuda_device(RunOptions& /*options*/, const CudaOptions& /*cuda*/) {
  return fail(ErrorCode::kUnsupported,
              "this program was built without the headers of CUDA, cuBLASLt and NCCL");
}

}  // namespace stagewright
