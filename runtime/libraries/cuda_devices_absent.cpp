#include "runtime/libraries/cuda_devices.h"

namespace stagewright {

Result<CudaMachine> find_cuda_machine(const std::string& /*library*/) {
  return fail(ErrorCode::kUnsupported, "this program was built without the headers of CUDA");
}

}  // namespace stagewright
