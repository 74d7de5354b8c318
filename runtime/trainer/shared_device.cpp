#include "runtime/trainer/shared_device.h"

#include <memory>
#include <utility>

#include "runtime/backend_error.h"
#include "runtime/comm/cuda_mover.h"
#include "runtime/comm/in_process.h"

namespace stagewright {

Result<void> share_cuda_device(RunOptions& options, const CudaOptions& cuda) {
  if (auto tried = make_cuda_device(cuda); !tried) {
    return pass_on(std::move(tried));
  }
  auto mover = make_cuda_mover(cuda);
  if (!mover) {
    return pass_on(std::move(mover));
  }
  options.make_world = [timeout = options.timeout, mover = *mover](const WorldSpec& spec) {
    return make_in_process_world(spec, {.timeout = timeout, .mover = mover});
  };
  options.make_device = [cuda](RankId) {
    auto device = make_cuda_device(cuda);
    if (!device) {
      throw BackendError(device.error());
    }
    return *std::move(device);
  };
  return {};
}

}  // namespace stagewright
