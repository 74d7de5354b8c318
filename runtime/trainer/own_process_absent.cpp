#include "runtime/trainer/own_process.h"

namespace stagewright {

Result<void> run_one_rank(RunOptions& /*options*/,
                          const LaunchEnvironment& /*launch*/,
                          CudaOptions /*cuda*/,
                          const std::string& /*nccl_library*/) {
  return fail(ErrorCode::kUnsupported,
              "this program was built without the headers of CUDA, cuBLASLt and NCCL");
}

}  // namespace stagewright
